package io.erda.verbs;

import io.erda.pmem.Backing;
import io.erda.rdma.DeviceContract;
import io.erda.rdma.DeviceFixture;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * {@link DeviceContract} for the verbs device. It needs an RDMA device, of which {@code
 * erda.rdma.address} is an IP address; {@code testbed/rdma} has one.
 */
@EnabledIfSystemProperty(
    named = "erda.rdma.address",
    matches = ".+",
    disabledReason = "no RDMA device is named here; testbed/rdma has one")
final class VerbsDeviceTest extends DeviceContract {
  private static final AtomicInteger PORT = new AtomicInteger(20_000);

  @Override
  protected DeviceFixture open(Path emptyDirectory) throws IOException {
    return new VerbsFixture(System.getProperty("erda.rdma.address"));
  }

  private static final class VerbsFixture implements DeviceFixture {
    private final VerbsDevice server = VerbsDevice.open(null, System::nanoTime, new SecureRandom());
    private final VerbsDevice client = VerbsDevice.open(null, System::nanoTime, new SecureRandom());
    private final Arena arena = Arena.ofShared();
    private final String host;
    private final int port = PORT.incrementAndGet();

    VerbsFixture(String host) throws IOException {
      this.host = host;
    }

    @Override
    public VerbsDevice server() {
      return server;
    }

    @Override
    public VerbsDevice client() {
      return client;
    }

    @Override
    public String address() {
      return host + ":" + port;
    }

    @Override
    public String deadAddress() {
      return host + ":9";
    }

    @Override
    public ServerMemory serverMemory(long bytes) {
      return new ServerMemory(arena.allocate(bytes, 8), Backing.none(bytes));
    }

    @Override
    public MemorySegment clientMemory(long bytes) {
      return arena.allocate(bytes, 8);
    }

    @Override
    public void step() {
      Thread.yield();
    }

    @Override
    public boolean hasThreads() {
      return true;
    }

    @Override
    public void close() {
      client.close();
      server.close();
      arena.close();
    }
  }
}
