package io.erda.server;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.rdma.Device;
import io.erda.rdma.Poller;
import io.erda.rdma.ShmDevice;
import io.erda.rdma.ShmOptions;
import io.erda.server.engine.ServerCore;
import io.erda.server.engine.ServerLimits;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

/**
 * Serves one data directory to the processes of this host over shared memory.
 *
 * <p>Owns the store and one thread, which sleeps when there is nothing to do. Any thread may call any method.
 */
public final class ErdaServer implements AutoCloseable {
  /** Where, below the data directory, clients find the server. */
  private static final String SHM = "shm";

  private final Path data;
  private final Device device;
  private final ServerCore core;
  private final OpenedStore store;
  private final Thread thread;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean closing;
  private volatile Throwable failure;

  private ErdaServer(Path data, OpenedStore store, Device device, ServerCore core, ServerOptions options) {
    this.data = data;
    this.store = store;
    this.device = device;
    this.core = core;
    ServerLoop loop = 
        new ServerLoop(
            core,
            device,
            new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, options.pollingNs()),
            () -> closing);
    this.thread = new Thread(() -> run(loop), "erda-server");
  }

  /**
   * Opens or creates the store in {@code data}, recovers it, and serves it at {@link #uri()} until {@link #close()}.
   *
   * @throws ErdaException with one line that says what is wrong: in use, foreign, of another version, damaged, full
   */
  public static ErdaServer start(Path data, ServerOptions options) {
    OpenedStore store = OpenedStore.open(data, options, true);
    Device device = null;
    try {
      Path shm = data.resolve(SHM);
      device =
          ShmDevice.open(
              ShmOptions.toServe(shm, System::nanoTime)
                  .withWrites(options.counted(), options.writeLatencyNs()));
      ServerCore core = new ServerCore(store.engine(), limits(options), System::nanoTime);
      core.listen(device, device.listen(shm.toString()));
      core.figure("server.cpu.ns", ErdaServer::processCpuNs);
      store.addFigures(core);
      ErdaServer server = new ErdaServer(data, store, device, core, options);
      server.thread.start();
      return server;
    } catch (IOException e) {
      close(device, store);
      throw new ErdaException.Unusable("can't listen in " + data.resolve(SHM) + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      close(device, store);
      throw e;
    }
  }

  /** What clients connect to. */
  public String uri() {
    return "erda+shm:" + data.toAbsolutePath();
  }

  public UUID storeId() {
    return store.engine().storeId();
  }

  /** The strongest promise an acknowledgement of this store has. */
  public Promise promise() {
    return store.engine().promise();
  }

  /** What recovery did when the store was opened, one line each; empty when there was nothing to do. */
  public List<String> notes() {
    return store.engine().recovery().notes();
  }

  /** Waits until the server has ended. @return why it failed, or null when it was closed */
  public Throwable await() throws InterruptedException {
    ended.await();
    return failure;
  }

  /** Ends every connection and closes the store. Idempotent. */
  @Override
  public void close() {
    closing = true;
    device.wakeup();
    boolean interrupted = false;
    while (true) {
      try {
        ended.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(ServerLoop loop) {
    try {
      loop.run();
    } catch (Throwable e) {
      failure = e;
    } finally {
      try {
        core.close();
        close(device, store);
      } catch (Throwable e) {
        failure = failure == null ? e : failure;
      }
      ended.countDown();
    }
  }

  private static ServerLimits limits(ServerOptions options) {
    ServerLimits defaults = ServerLimits.DEFAULT;
    return new ServerLimits(
        options.connectionsMax(), defaults.reservationIdleNs(), defaults.extentBytesMax(), options.pollingNs());
  }

  private static long processCpuNs() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean bean
        ? bean.getProcessCpuTime()
        : -1;
  }

  private static void close(Device device, OpenedStore store) {
    try {
      if (device != null) {
        device.close();
      }
    } finally {
      store.close();
    }
  }
}
