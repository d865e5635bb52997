package io.erda.server.engine.service;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The clients that are connected. Owns their connections. One thread. */
final class ClientConnections {
  private final List<Connection> connections = new ArrayList<>();
  private final UserShares shares;
  private final Consumer<Connection> leaving;
  private final Consumer<Connection> left;
  private int unserved;
  private boolean anyGone;
  private long misbehaved;

  /**
   * @param shares the shares of the clients' users
   * @param leaving receives a connection that is about to be closed
   * @param left receives a connection that was closed; its client gets no more acknowledgements
   */
  ClientConnections(UserShares shares, Consumer<Connection> leaving, Consumer<Connection> left) {
    this.shares = shares;
    this.leaving = leaving;
    this.left = left;
  }

  void add(Connection connection) {
    connections.add(connection);
  }

  /** All connections, in the order in which they came. */
  List<Connection> all() {
    return connections;
  }

  /** The connection whose welcome has these numbers, or null. */
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

  /** Number of connections that were ended because their client violated the protocol. */
  long misbehaved() {
    return misbehaved;
  }

  UserShares shares() {
    return shares;
  }

  /** Handles the messages that arrived. Returns how many. */
  int doWork() {
    int work = 0;
    unserved = 0;
    for (int i = 0; i < connections.size(); i++) {
      Connection connection = connections.get(i);
      int handled = connection.doWork();
      work += handled;
      unserved += connection.isServed() ? 0 : handled;
      anyGone |= connection.gone();
    }
    return work;
  }

  /** How many of the messages that {@link #doWork} handled no other thread would handle. */
  int unserved() {
    return unserved;
  }

  /** Closes the connections that {@link #doWork} found gone. */
  void closeGone() {
    if (anyGone) {
      anyGone = false;
      connections.removeIf(this::closeIfGone);
    }
  }

  /**
   * Closes the connections of clients that have left without the server noticing. A client that is
   * just connecting may have left such a connection.
   *
   * @return whether there was any such connection
   */
  boolean closeWhoLeft() {
    for (Connection connection : connections) {
      if (!connection.isThere()) {
        connection.giveUp();
      }
    }
    return connections.removeIf(this::closeIfGone);
  }

  /** Whether any connection is given up and not closed yet. */
  boolean isAnyGone() {
    for (Connection connection : connections) {
      if (connection.gone()) {
        return true;
      }
    }
    return false;
  }

  /** Whether {@link #doWork} may find something to do. */
  boolean mayHaveWork() {
    for (int i = 0; i < connections.size(); i++) {
      if (connections.get(i).mayHaveWork()) {
        return true;
      }
    }
    return false;
  }

  /** Gives up connections whose memory is missing. Returns whether there was any. */
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

  /** As {@link Connection#arm}, for all connections. */
  boolean arm() {
    boolean armed = true;
    for (int i = 0; i < connections.size(); i++) {
      armed &= connections.get(i).arm();
    }
    return armed;
  }

  /** Closes every connection. */
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
