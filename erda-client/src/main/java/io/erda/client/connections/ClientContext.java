package io.erda.client.connections;

import io.erda.client.ClientOptions;
import io.erda.client.LocalPublisher;
import io.erda.rdma.Device;
import java.util.function.LongSupplier;

/**
 * What all parts of one client share.
 *
 * @param device borrowed
 * @param address of the server, in the device's form
 * @param nanoTime the clock for time-outs
 * @param processId what the server is told of this process, for messages
 * @param publisher null where the server is not in this process, or takes messages alone
 * @param reading makes devices that read the files of the store, for when there can be no
 *     connection because their file system is full or failed, and to look whether they can be read
 *     where there is none for another reason; null where they can't be reached
 * @param hints null where the device READs in the call, and so saves no round trip by them
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
