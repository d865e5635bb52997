package io.erda.rdma;

import io.erda.pmem.Backing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** {@link DeviceContract} for the embedded device. */
final class EmbeddedDeviceTest extends DeviceContract {
  @Override
  protected DeviceFixture open(Path emptyDirectory) {
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
    EmbeddedDevice server = network.device();
    EmbeddedDevice client = network.device();
    Arena arena = Arena.ofShared();
    return new DeviceFixture() {
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
        return new ServerMemory(arena.allocate(bytes, 8), Backing.none(bytes));
      }

      @Override
      public MemorySegment clientMemory(long bytes) {
        return arena.allocate(bytes, 8);
      }

      @Override
      public void step() {
        Thread.onSpinWait();
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
    };
  }
}
