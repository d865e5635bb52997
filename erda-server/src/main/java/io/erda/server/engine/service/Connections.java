package io.erda.server.engine.service;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The clients that are connected. Owns their connections. One thread. */
final class Connections {
  private final List<Connection> connections = new ArrayList<>();
  private final UserShares shares;
  private final Consumer<Connection> leaving;
  private final Consumer<Connection> left;
  private boolean anyGone;
  private long misbehaved;

  /**
   * @param shares of the users whose clients they are
   * @param leaving is told of a connection that is about to be closed
   * @param left is told of one that was closed: nothing its client does is told to anybody as done
   */
  Connections(UserShares shares, Consumer<Connection> leaving, Consumer<Connection> left) {
    this.shares = shares;
    this.leaving = leaving;
    this.left = left;
  }

  void add(Connection connection) {
    connections.add(connection);
  }

  /** All of them, in the order they came. */
  List<Connection> all() {
    return connections;
  }

  /** The connection that was welcomed with these numbers, or null. */
  Connection find(int clientId, int connectionEpoch) {
    for (Connection each : connections) {
      if (each.clientId == clientId && each.connectionEpoch == connectionEpoch) {
        return each;
      }
    }
    return null;
  }

  int size() {
    return connections.size();
  }

  /** How many were ended because of what they sent. */
  long misbehaved() {
    return misbehaved;
  }

  UserShares shares() {
    return shares;
  }

  /** Handles what has arrived. Returns how much that was. */
  int doWork() {
    int work = 0;
    for (int i = 0; i < connections.size(); i++) {
      Connection connection = connections.get(i);
      work += connection.doWork();
      anyGone |= connection.gone();
    }
    return work;
  }

  /** Closes those that {@link #doWork} found gone. */
  void closeGone() {
    if (anyGone) {
      anyGone = false;
      connections.removeIf(this::closeIfGone);
    }
  }

  /**
   * Closes the connections of clients that left and were not noticed yet: one of them may be who
   * asks for a connection now.
   *
   * @return whether there was any
   */
  boolean closeWhoLeft() {
    for (Connection connection : connections) {
      if (!connection.isThere()) {
        connection.giveUp();
      }
    }
    return connections.removeIf(this::closeIfGone);
  }

  /** Returns whether any is given up, and not closed yet. */
  boolean isAnyGone() {
    for (Connection connection : connections) {
      if (connection.gone()) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether there is any whose memory went away. */
  boolean giveUpWhoseMemoryIsLost() {
    boolean any = false;
    for (Connection connection : connections) {
      if (connection.queuePair.isMemoryLost()) {
        connection.giveUp();
        any = true;
      }
    }
    return any;
  }

  /** As {@link Connection#arm}, of all of them. */
  boolean arm() {
    boolean armed = true;
    for (int i = 0; i < connections.size(); i++) {
      armed &= connections.get(i).arm();
    }
    return armed;
  }

  /** Ends every one. */
  void closeAll() {
    for (Connection connection : connections) {
      connection.giveUp();
    }
    connections.removeIf(this::closeIfGone);
  }

  private boolean closeIfGone(Connection connection) {
    if (connection.gone()) {
      misbehaved += connection.misbehaved() ? 1 : 0;
      leaving.accept(connection);
      connection.close();
      shares.leave(connection.share);
      left.accept(connection);
    }
    return connection.gone();
  }
}
