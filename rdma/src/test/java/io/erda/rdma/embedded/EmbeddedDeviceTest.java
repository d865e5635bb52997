package io.erda.rdma.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceContract;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** {@link DeviceContract} for the embedded device. */
final class EmbeddedDeviceTest extends DeviceContract {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

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

  /** It was left to the garbage collector, which an option of the JVM may keep from its work. */
  @Test
  void theMemoryOfConnectionsThatHaveEndedIsUsedAgain() throws IOException {
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
    EmbeddedDevice served = network.device();
    EmbeddedDevice connecting = network.device();
    Listener listener = served.listen("again");
    Set<Long> used = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      EmbeddedQueuePair here = connect(connecting);
      used.add(here.queue.address());
      ConnectionRequest request = listener.poll();
      switch (i % 3) {
        case 0 -> {
          request.reject(NOTHING);
          here.close();
        }
        case 1 -> {
          QueuePair there = request.accept(NOTHING);
          here.close();
          used.addAll(othersBeside(here, connecting, listener, i + 2));
          there.close();
        }
        default -> {
          QueuePair there = request.accept(NOTHING);
          there.close();
          used.addAll(othersBeside(here, connecting, listener, i + 2));
          here.close();
          assertEquals(0, served.strangers());
        }
      }
    }
    assertTrue(used.size() <= 30 + 2, "memories: " + used);
    connecting.close();
    served.close();
  }

  private static EmbeddedQueuePair connect(EmbeddedDevice device) {
    return (EmbeddedQueuePair) device.connect("again", NOTHING, Duration.ofSeconds(9));
  }

  /**
   * Other connections have other memory, as long as one end is open. Makes more of them than there
   * were before, so that all memory is used, and returns where it is.
   */
  private static Set<Long> othersBeside(
      EmbeddedQueuePair open, EmbeddedDevice device, Listener listener, int count) {
    List<EmbeddedQueuePair> others = new ArrayList<>();
    Set<Long> used = new HashSet<>();
    for (int i = 0; i < count; i++) {
      others.add(connect(device));
      assertNotEquals(open.queue.address(), others.getLast().queue.address());
      used.add(others.getLast().queue.address());
      listener.poll().reject(NOTHING);
    }
    others.forEach(EmbeddedQueuePair::close);
    return used;
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
