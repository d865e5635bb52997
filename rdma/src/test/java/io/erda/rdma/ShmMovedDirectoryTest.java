package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.MappedDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmDirectory;
import io.erda.rdma.shm.ShmOptions;
import io.erda.rdma.shm.ShmSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The directory around that of a device is renamed, and another one is put in its place. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmMovedDirectoryTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir private Path directory;

  private final Arena arena = Arena.ofShared();
  private final Recorder recorder = new Recorder();
  private Path store;
  private Path moved;

  @BeforeEach
  void makeStore() throws Exception {
    store = Files.createDirectory(directory.resolve("store"));
    moved = directory.resolve("moved");
  }

  @AfterEach
  void closeArena() {
    arena.close();
  }

  private void move() throws Exception {
    Files.move(store, moved);
    Files.createDirectories(store.resolve("shm"));
    Files.writeString(store.resolve("shm").resolve("registry"), "somebody else's");
    Files.writeString(store.resolve("memory"), "somebody else's");
  }

  private List<String> others() throws Exception {
    try (Stream<Path> all = Files.walk(store)) {
      return all.map(each -> store.relativize(each).toString()).sorted().toList();
    }
  }

  private ShmDevice serve(MappedDirectory place) throws Exception {
    ShmOptions options = ShmOptions.toServe(store.resolve("shm"), System::nanoTime);
    return ShmDevice.open(options.in(place.opened()));
  }

  /** A store is locked, and its directory is renamed before {@code shm/} is made. */
  @Test
  void aDeviceIsOpenedWhereTheStoreIs() throws Exception {
    try (MappedDirectory place = MappedDirectory.open(store)) {
      move();
      List<String> before = others();
      try (ShmDevice server = serve(place)) {
        server.listen(store.resolve("shm").toString());
        assertTrue(Files.exists(moved.resolve("shm").resolve("registry")));
      }
      assertEquals(before, others());
      assertEquals("somebody else's", Files.readString(store.resolve("shm").resolve("registry")));
    }
  }

  @Test
  void regionsAndClientsAreServedWhereTheDirectoryIs() throws Exception {
    try (MappedDirectory place = MappedDirectory.open(store);
        ShmDevice server = serve(place);
        ShmDevice client = ShmDevice.open(ShmOptions.toConnect(System::nanoTime))) {
      Listener listener = server.listen(store.resolve("shm").toString());
      QueuePair queuePair = client.connect(store.resolve("shm").toString(), NOTHING, LONG);
      QueuePair answer = request(server, listener, queuePair).accept(NOTHING);
      await(queuePair, Opcode.CONNECT);
      move();
      List<String> before = others();
      PersistentMemory memory = place.create("memory", 4096);
      memory.putLongRelease(8, 77);
      MemoryRegion region = server.register(memory.segment(), memory.backing(), Access.REMOTE_READ);
      MemoryRegion local = client.register(arena.allocate(64, 8), null, Access.LOCAL);
      queuePair.post(Work.read().id(1).local(local, 0, 8).remote(region.remoteKey(), 8).signaled());
      await(queuePair, Opcode.READ);
      assertEquals(Status.SUCCESS, recorder.last().status());
      assertEquals(77, local.memory().get(QueueLayout.LONG, 0));

      QueuePair late = client.connect(moved.resolve("shm").toString(), NOTHING, LONG);
      recorder.all.clear();
      QueuePair lateAnswer = request(server, listener, late).accept(NOTHING);
      await(late, Opcode.CONNECT);
      assertEquals(Status.SUCCESS, recorder.last().status());
      for (QueuePair each : List.of(queuePair, answer, late, lateAnswer)) {
        each.close();
      }
      assertEquals(before, others());
    }
  }

  /** A link in the place of the socket leads to another server. */
  @Test
  void aLinkInsteadOfTheSocketIsNotFollowed() throws Exception {
    Path other = Files.createDirectory(directory.resolve("other"));
    try (ShmFixture fixture = new ShmFixture(other);
        ShmDevice client = ShmDevice.open(ShmOptions.toConnect(System::nanoTime))) {
      assertNotNull(fixture.server().listen(fixture.address()));
      Path shm = Files.createDirectory(store.resolve("shm"));
      Files.createSymbolicLink(shm.resolve("socket"), Path.of(fixture.address(), "socket"));
      try (ShmDirectory opened = ShmDirectory.open(shm)) {
        ShmSocket connected = null;
        try {
          connected = ShmSocket.connect(opened);
        } catch (IOException e) {
          // So it is meant.
        }
        assertNull(connected, "a connection to another server");
      }
      QueuePair queuePair = client.connect(shm.toString(), NOTHING, LONG);
      await(queuePair, Opcode.CONNECT);
      assertEquals(Status.UNREACHABLE, recorder.last().status());
      queuePair.close();
      Files.delete(shm.resolve("socket"));
    }
  }

  private ConnectionRequest request(ShmDevice server, Listener listener, QueuePair connecting) {
    ConnectionRequest request = null;
    for (long end = System.nanoTime() + LONG.toNanos(); request == null; ) {
      assertTrue(System.nanoTime() - end < 0, "no request");
      connecting.poll(recorder, 16);
      server.await(1_000_000);
      request = listener.poll();
    }
    return request;
  }

  private void await(QueuePair queuePair, int opcode) {
    for (long end = System.nanoTime() + LONG.toNanos(); !recorder.has(opcode); ) {
      assertTrue(System.nanoTime() - end < 0, () -> "did not come about; saw " + recorder.all);
      queuePair.poll(recorder, 16);
    }
  }
}
