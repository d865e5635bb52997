package io.erda.client.connections;

import io.erda.client.ClientOptions;
import io.erda.rdma.Device;
import java.util.function.LongSupplier;

/**
 * The objects that all parts of one client share.
 *
 * @param device borrowed
 * @param address the address of the server, in the device's form
 * @param nanoTime the clock for time-outs
 * @param processId the process id that is sent to the server, for messages
 * @param publisher null when the server is not in this process, or takes only messages
 * @param reading makes devices that read the store's files, for use when no connection is possible
 *     because the file system is full or failed, and to check whether the files are readable when
 *     connecting failed for another reason; null when this client can't reach the files
 * @param hints null when the device READs within the call, so that hints save no round trip
 */
public record ClientContext(
    Device device,
    String address,
    ClientOptions options,
    LongSupplier nanoTime,
    long processId,
    LocalPublisher publisher,
    KnownStore store,
    ReadSize readSize,
    PlaceHints hints,
    Counts counts,
    Attention attention,
    ReadingDevices reading) {
  public static ClientContext of(
      Device device, String address, ClientOptions options, LongSupplier nanoTime, long processId) {
    return of(device, address, options, nanoTime, processId, null);
  }

  public static ClientContext of(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      long processId,
      LocalPublisher publisher) {
    return new ClientContext(
        device,
        address,
        options,
        nanoTime,
        processId,
        publisher,
        new KnownStore(),
        new ReadSize(options.readBytes()),
        device.readsNow() ? null : new PlaceHints(),
        new Counts(),
        new Attention(),
        null);
  }

  /** Returns a copy of this context that has a device which reads the store's files. */
  public ClientContext reading(ReadingDevices files) {
    return new ClientContext(
        device, address, options, nanoTime, processId, publisher, store, readSize, hints, counts,
        attention, files);
  }

  public long now() {
    return nanoTime.getAsLong();
  }
}
