package io.erda.server;

/**
 * Limits for one client, and for all clients of one user, so that no client or user uses up the
 * server's resources. Begin with {@link #DEFAULTS}, and change it by the {@code with…} methods.
 * Immutable.
 *
 * <p>The limits of a user do not apply to the server's own user, nor to peers that proved a secret;
 * for these only the limits of each client apply. The kernel reports the user of a client. Over TCP
 * without a secret all clients count as clients of one user.
 *
 * @param connectionsPerUser how many clients of one user are connected at a time; 0: half of all
 *     connections
 * @param leasedBytesPerClient bytes of the log that are leased to one client and not written yet;
 *     0: 1/16 of the log, which is as much as the log leases to all clients without being short of
 *     space
 * @param leasedBytesPerUser the same for all clients of one user; 0: half of the log
 * @param operationsPerClient requests of one client that are under way at a time; 0: as many as a
 *     connection holds
 * @param operationsPerUser the same for all clients of one user; 0: no limit
 */
public record Quotas(
    int connectionsPerUser,
    long leasedBytesPerClient,
    long leasedBytesPerUser,
    int operationsPerClient,
    int operationsPerUser) {
  /** The default quotas of a server. */
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

  /** A copy with another {@link #connectionsPerUser}. */
  public Quotas withConnectionsPerUser(int value) {
    return new Quotas(
        value, leasedBytesPerClient, leasedBytesPerUser, operationsPerClient, operationsPerUser);
  }

  /** A copy with another {@link #leasedBytesPerClient}. */
  public Quotas withLeasedBytesPerClient(long value) {
    return new Quotas(
        connectionsPerUser, value, leasedBytesPerUser, operationsPerClient, operationsPerUser);
  }

  /** A copy with another {@link #leasedBytesPerUser}. */
  public Quotas withLeasedBytesPerUser(long value) {
    return new Quotas(
        connectionsPerUser, leasedBytesPerClient, value, operationsPerClient, operationsPerUser);
  }

  /** A copy with another {@link #operationsPerClient}. */
  public Quotas withOperationsPerClient(int value) {
    return new Quotas(
        connectionsPerUser, leasedBytesPerClient, leasedBytesPerUser, value, operationsPerUser);
  }

  /** A copy with another {@link #operationsPerUser}. */
  public Quotas withOperationsPerUser(int value) {
    return new Quotas(
        connectionsPerUser, leasedBytesPerClient, leasedBytesPerUser, operationsPerClient, value);
  }
}
