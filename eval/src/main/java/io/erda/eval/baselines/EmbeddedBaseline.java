package io.erda.eval.baselines;

import io.erda.eval.process.Opened;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.rdma.Poller;
import io.erda.rdma.embedded.EmbeddedNetwork;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * A baseline in the process of its clients, which take the server's steps while they wait: no work
 * is handed to another thread. Applying is one of these steps. One thread at a time. Owns its
 * store.
 */
public final class EmbeddedBaseline implements AutoCloseable {
  private static final String ADDRESS = "baseline";
  private static final long TIMEOUT_NS = 10_000_000_000L;

  private final BaselineKind kind;
  private final EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
  private final Opened opened = new Opened();
  private final BaselineServer server;

  /**
   * Opens the store in a directory, or makes one there.
   *
   * @param data an existing directory
   * @param objects that the store is to hold, of at most {@code objectBytes} of key and value
   */
  public EmbeddedBaseline(BaselineKind kind, Path data, long objects, int objectBytes)
      throws IOException {
    this.kind = kind;
    try {
      MemoryDirectory files = MappedDirectory.open(data);
      opened.add(files::close);
      if (!files.lock()) {
        throw new IOException(data + " is in use");
      }
      Device device = network.device();
      opened.add(device::close);
      server =
          BaselineServer.open(
              kind,
              files,
              BaselineGeometry.forObjects(objects, objectBytes),
              0,
              System::nanoTime,
              new SplittableRandom());
      opened.add(server::close);
      server.listen(device, device.listen(ADDRESS), false);
    } catch (IOException | RuntimeException | Error e) {
      opened.closeAfter(e);
      throw e;
    }
  }

  /** A new device for a client of this store. The caller owns it. */
  public Device clientDevice() {
    return network.device();
  }

  /** Calls of a new client on a device of this store. Close them before this store. */
  public BaselineCalls calls(Device clientDevice) {
    return new BaselineCalls(
        kind,
        clientDevice,
        ADDRESS,
        TIMEOUT_NS,
        Poller.DEFAULT_BUDGET_NS,
        System::nanoTime,
        server::doWork);
  }

  @Override
  public void close() {
    opened.close();
  }
}
