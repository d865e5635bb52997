package io.erda.server;

/**
 * What a server gives one client, and all clients of one user, so that no one uses up what is there
 * for all: {@link #DEFAULTS}, then the withers. Immutable.
 *
 * <p>A user is another one than the server's own; that one, and peers that proved a secret, are
 * limited client by client alone. The kernel says whose a client is. Over TCP without a secret all
 * clients count as one user's.
 *
 * @param connectionsPerUser how many clients of one user are connected at a time; 0: half of all
 *     that may be
 * @param leasedBytesPerClient bytes of the log that are leased to one client and not written yet;
 *     0: as many as the log leases at all without being short of space, 1/16 of it
 * @param leasedBytesPerUser the same of all clients of one user; 0: half of the log
 * @param operationsPerClient requests of one client that are under way at a time; 0: as many as a
 *     connection holds
 * @param operationsPerUser the same of all clients of one user; 0: no limit
 */
public record Quotas(
    int connectionsPerUser,
    long leasedBytesPerClient,
    long leasedBytesPerUser,
    int operationsPerClient,
    int operationsPerUser) {
  /** The quotas of a server that is started without any. */
  public static final Quotas DEFAULTS = new Quotas(0, 0, 0, 0, 0);

  /**
   * @throws IllegalArgumentException when one is negative
   */
  public Quotas {
    if (connectionsPerUser < 0
        || leasedBytesPerClient < 0
        || leasedBytesPerUser < 0
        || operationsPerClient < 0
        || operationsPerUser < 0) {
      throw new IllegalArgumentException("a quota is negative");
    }
  }

  /** The same, with another {@link #connectionsPerUser}. */
  public Quotas withConnectionsPerUser(int value) {
    return new Quotas(
        value, leasedBytesPerClient, leasedBytesPerUser, operationsPerClient, operationsPerUser);
  }

  /** The same, with another {@link #leasedBytesPerClient}. */
  public Quotas withLeasedBytesPerClient(long value) {
    return new Quotas(
        connectionsPerUser, value, leasedBytesPerUser, operationsPerClient, operationsPerUser);
  }

  /** The same, with another {@link #leasedBytesPerUser}. */
  public Quotas withLeasedBytesPerUser(long value) {
    return new Quotas(
        connectionsPerUser, leasedBytesPerClient, value, operationsPerClient, operationsPerUser);
  }

  /** The same, with another {@link #operationsPerClient}. */
  public Quotas withOperationsPerClient(int value) {
    return new Quotas(
        connectionsPerUser, leasedBytesPerClient, leasedBytesPerUser, value, operationsPerUser);
  }

  /** The same, with another {@link #operationsPerUser}. */
  public Quotas withOperationsPerUser(int value) {
    return new Quotas(
        connectionsPerUser, leasedBytesPerClient, leasedBytesPerUser, operationsPerClient, value);
  }
}
