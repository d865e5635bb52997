package io.erda.client.connections;

import io.erda.client.files.ReadOnlyDevice;
import java.util.function.Supplier;

/**
 * Makes devices that read the files of a client's store when no connection is possible. It keeps
 * the device that the client reads over, and closes it with the client, or when the garbage
 * collector has found that the client was never closed.
 *
 * <p>One thread at a time. This object does not refer to the client, because then the collector
 * could never find the client unreachable.
 */
public final class ReadingDevices implements AutoCloseable {
  private final Supplier<ReadOnlyDevice> opening;

  /**
   * The device that the client reads over; null until the client reads the files. Volatile because
   * another thread closes it when the application forgot to close the client.
   */
  private volatile ReadOnlyDevice kept;

  /**
   * @param opening makes a device; must not refer to the client
   */
  public ReadingDevices(Supplier<ReadOnlyDevice> opening) {
    this.opening = opening;
  }

  /** Returns a new device, which the caller closes. */
  ReadOnlyDevice open() {
    return opening.get();
  }

  /** Returns the device that the client reads over, which is made at the first call. */
  ReadOnlyDevice kept() {
    if (kept == null) {
      kept = opening.get();
    }
    return kept;
  }

  /** Closes the device that the client reads over, if there is one. Idempotent. */
  @Override
  public void close() {
    ReadOnlyDevice device = kept;
    if (device != null) {
      device.close();
    }
  }
}
