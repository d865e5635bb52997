package io.erda.client.connections;

import io.erda.client.files.ReadOnlyDevice;
import java.util.function.Supplier;

/**
 * Makes devices that read the files of a client's store where there can be no connection. It keeps
 * the one that the client reads over, and closes it when the client is closed, or when the garbage
 * collector has found that the client was forgotten.
 *
 * <p>One thread at a time. It does not reach the client, which the collector could not find
 * otherwise.
 */
public final class ReadingDevices implements AutoCloseable {
  private final Supplier<ReadOnlyDevice> opening;

  /** Null until the client reads the files. A forgotten one is closed by another thread. */
  private volatile ReadOnlyDevice kept;

  /**
   * @param opening makes a device; does not reach the client
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
