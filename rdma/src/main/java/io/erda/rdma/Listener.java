package io.erda.rdma;

/**
 * Accepts connections at one address. Belongs to the thread that polls the device's queue pairs.
 */
public interface Listener extends AutoCloseable {
  /** The next connection request, or null when there is none. Does not block. */
  ConnectionRequest poll();

  /** The address it listens at, with the actual port. */
  String address();

  /** Stops listening; accepted queue pairs stay. */
  @Override
  void close();
}
