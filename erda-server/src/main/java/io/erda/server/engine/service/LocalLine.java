package io.erda.server.engine.service;

/**
 * Names the connection of a client in this process that publishes in the client's thread: in a step
 * of the server ({@link LocalPuts#publish}), or beside other such threads ({@link
 * LocalPuts#commit}).
 */
public final class LocalLine {
  private final int clientId;
  private final int connectionEpoch;
  private final Committer committer;
  private Connection connection;

  /** A line that does not commit by itself. The numbers are those of the connection's welcome. */
  public LocalLine(int clientId, int connectionEpoch) {
    this(clientId, connectionEpoch, null);
  }

  /**
   * The numbers are those of the connection's welcome.
   *
   * @param committer {@link LocalPuts#committer}
   */
  public LocalLine(int clientId, int connectionEpoch, Committer committer) {
    this.clientId = clientId;
    this.connectionEpoch = connectionEpoch;
    this.committer = committer;
  }

  /** Null where each put needs a step of the server. */
  Committer committer() {
    return committer;
  }

  /** The connection, or null when it has ended. */
  Connection connection(ClientConnections all) {
    if (connection == null) {
      connection = all.find(clientId, connectionEpoch);
    }
    return connection == null || connection.gone() ? null : connection;
  }
}
