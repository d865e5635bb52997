package io.erda.eval.baselines;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.rdma.Device;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreOpening;
import io.erda.simulation.system.ErdaUnderTest;
import io.erda.simulation.system.StoreUnderTest;
import java.io.IOException;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * Erda with the strongest promise of its put mode (to survive a power failure when puts publish
 * last), and a log that is not cleaned. Unlike {@link ErdaUnderTest}, whose clients it uses, it has
 * no randomness.
 */
final class SimulatedErda implements StoreUnderTest {
  private static final int REGION_BYTES = 8 << 20;
  private static final int HEADS = 4;

  private final Promise promise;
  private final StoreGeometry geometry;
  private final ServiceOptions service;
  private final StoreUnderTest clients;

  /**
   * @param bytes of all objects that are put
   */
  SimulatedErda(PutMode puts, int objects, long bytes) {
    promise = puts.promiseMax();
    int regions = (int) (2 * bytes / REGION_BYTES) + 8 * HEADS;
    geometry =
        new StoreGeometry(
            new LogGeometry(HEADS, REGION_BYTES, REGION_BYTES / 4, regions),
            Long.highestOneBit(objects) * 4,
            puts);
    ServiceOptions defaults = ServiceOptions.DEFAULT;
    service =
        new ServiceOptions(
            defaults.connectionsMax(),
            defaults.reservationIdleNs(),
            defaults.extentBytesMax() >> 4,
            defaults.pollingNs(),
            CleanerOptions.NEVER);
    clients = new ErdaUnderTest(geometry, service, ClientOptions.DEFAULT);
  }

  @Override
  public Server start(
      MemoryDirectory directory,
      Device device,
      String address,
      List<Device> abandoned,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException {
    if (!directory.lock()) {
      throw new IOException("a simulated directory is in use");
    }
    ServerCore core =
        new ServerCore(StoreOpening.open(directory, geometry, promise, random), service, nanoTime);
    core.listen(device, device.listen(address));
    return new Server() {
      @Override
      public int doWork() {
        return core.doWork();
      }

      @Override
      public void release() {
        core.abandon();
      }
    };
  }

  @Override
  public Client connect(Device device, String address, LongSupplier nanoTime, ClientEvents events) {
    return clients.connect(device, address, nanoTime, events);
  }

  @Override
  public void inspect(
      MemoryDirectory directory, RandomGenerator random, BiConsumer<byte[], String> findings) {
    clients.inspect(directory, random, findings);
  }
}
