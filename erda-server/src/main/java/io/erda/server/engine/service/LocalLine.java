package io.erda.server.engine.service;

/**
 * Names the connection of a client in this process that publishes in the client's thread ({@link
 * ServerCore#publishNow}). Used in the thread that takes the server's steps.
 */
public final class LocalLine {
  private final int clientId;
  private final int connectionEpoch;
  private Connection connection;

  /** The numbers are those of the connection's welcome. */
  public LocalLine(int clientId, int connectionEpoch) {
    this.clientId = clientId;
    this.connectionEpoch = connectionEpoch;
  }

  /** The connection, or null when it has ended. */
  Connection connection(ClientConnections all) {
    if (connection == null) {
      connection = all.find(clientId, connectionEpoch);
    }
    return connection == null || connection.gone() ? null : connection;
  }
}
