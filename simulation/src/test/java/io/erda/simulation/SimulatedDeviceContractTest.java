package io.erda.simulation;

import io.erda.pmem.PersistentMemory;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceContract;
import io.erda.rdma.DeviceFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.random.RandomGenerator;

/** {@link DeviceContract} in virtual time. */
final class SimulatedDeviceContractTest extends DeviceContract {
  private static final long STEP_NS = 1_000;

  @Override
  protected DeviceFixture open(Path emptyDirectory) {
    return new Fixture(seed());
  }

  private static final class Fixture implements DeviceFixture {
    private final VirtualTime time;
    private final SimulatedDirectory directory;
    private final SimulatedDevice server;
    private final SimulatedDevice client;
    private int files;

    Fixture(long seed) {
      RandomGenerator random = Seeds.random(seed);
      time = new VirtualTime(random);
      SimulatedDisk disk = new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, random);
      directory = disk.sharedDirectory();
      SimulatedNetwork network =
          new SimulatedNetwork(
              time,
              random,
              NetworkModel.PAPERS.prompt().withReadsOutlivePeer(random.nextBoolean()));
      server = network.device("server", disk);
      client = network.device("client");
    }

    @Override
    public Device server() {
      return server;
    }

    @Override
    public Device client() {
      return client;
    }

    @Override
    public String address() {
      return "store";
    }

    @Override
    public String deadAddress() {
      return "nobody";
    }

    @Override
    public ServerMemory serverMemory(long bytes) {
      try {
        PersistentMemory memory = directory.create("memory-" + files++, bytes);
        return new ServerMemory(memory.segment(), memory.backing());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public MemorySegment clientMemory(long bytes) {
      return MemorySegment.ofArray(new long[Math.toIntExact((bytes + 7) / 8)]).asSlice(0, bytes);
    }

    @Override
    public void step() {
      time.runFor(STEP_NS);
    }

    @Override
    public boolean hasThreads() {
      return false;
    }

    @Override
    public void close() {
      client.close();
      server.close();
      directory.close();
    }
  }
}
