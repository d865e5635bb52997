package io.erda.server;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.rdma.Listener;
import io.erda.rdma.ShmDevice;
import io.erda.server.engine.ServerCore;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Serves one data directory to the processes of this host over shared memory.
 *
 * <p>Owns the store and one thread, which sleeps when there is nothing to do. Any thread may call
 * any method. A server keeps the JVM alive until it is closed or fails, as its clients are other
 * processes; an embedded {@link ErdaStore} does not.
 */
public final class ErdaServer implements AutoCloseable {
  private final Path data;
  private final OpenedStore store;
  private final ServerThread server;

  private ErdaServer(Path data, OpenedStore store, ServerThread server) {
    this.data = data;
    this.store = store;
    this.server = server;
  }

  /**
   * Opens or creates the store in {@code data}, recovers it, and serves it at {@link #uri()} until
   * {@link #close()}.
   *
   * @throws ErdaException with one line that says what is wrong: in use, foreign, of another
   *     version, damaged, full
   */
  public static ErdaServer start(Path data, ServerOptions options) {
    OpenedStore store = OpenedStore.open(data, options, OpenedStore.Purpose.SERVE);
    ShmDevice device = store.shm();
    try {
      ServerCore core =
          new ServerCore(store.engine(), ServerThread.limits(options), System::nanoTime);
      core.listen(device, listen(device, data.resolve(OpenedStore.SHM)));
      core.figure("server.cpu.ns", ErdaServer::processCpuNs);
      store.addFigures(core);
      return new ErdaServer(data, store, ServerThread.start(core, device, store, options, false));
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private static Listener listen(ShmDevice device, Path shm) {
    try {
      return device.listen(shm.toString());
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't listen in " + shm + ": " + e.getMessage(), e);
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

  /**
   * What recovery did when the store was opened, one line each; empty when there was nothing to do.
   */
  public List<String> notes() {
    return store.engine().recovery().notes();
  }

  /**
   * Sets who is told, once and by the server's thread, that the store takes no more puts and
   * deletes, and why: its files failed. Where that was before, told at once by the caller.
   */
  public void onReadOnly(Consumer<String> listener) {
    server.onReadOnly(listener);
  }

  /** Waits until the server has ended. Returns why it failed, or null when it was closed. */
  public Throwable await() throws InterruptedException {
    return server.await();
  }

  /** Ends every connection and closes the store. Idempotent. */
  @Override
  public void close() {
    server.close();
  }

  private static long processCpuNs() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean bean
        ? bean.getProcessCpuTime()
        : -1;
  }
}
