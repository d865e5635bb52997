package io.erda.rdma.embedded;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceContract;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** {@link DeviceContract} for the embedded device. */
final class EmbeddedDeviceTest extends DeviceContract {
  @Override
  protected boolean readsInTheCall() {
    return true;
  }

  /** The owner of a region may close its memory before anybody reads there for the last time. */
  @Test
  void memoryThatItsOwnerClosedIsNotRead() {
    connect();
    Arena ofOwner = Arena.ofShared();
    MemorySegment memory = ofOwner.allocate(64, 8);
    MemoryRegion region = server.register(memory, Backing.none(64), Access.REMOTE_READ);
    requester.post(read(1, region.remoteKey(), 0, 24));
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    assertTrue(
        requester.readNow(Work.read().local(clientRegion, 0, 24).remote(region.remoteKey(), 0)));
    ofOwner.close();
    assertFalse(
        requester.readNow(Work.read().local(clientRegion, 0, 24).remote(region.remoteKey(), 0)));
    assertFalse(
        requester.readNow(Work.read().local(clientRegion, 0, 64).remote(region.remoteKey(), 0)));
  }

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
