package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.Ring;
import io.erda.rdma.shm.QueueFile;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmDirectory;
import io.erda.rdma.shm.ShmOptions;
import io.erda.rdma.shm.ShmSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Peers that write garbage into everything they share with the server: it goes on serving an honest
 * one.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmHostilePeerTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final int PEERS = 150;

  @TempDir private Path directory;

  private final long seed = DeviceContract.seed();
  private final Random random = new Random(seed);
  private final Recorder atClient = new Recorder();
  private int hostileCompletions;

  @Test
  void garbageInRingsAndHelloBreaksNothing() throws Exception {
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = fixture.server().listen(fixture.address());
      Honest honest = new Honest(fixture, listener);
      for (int peer = 0; peer < PEERS; peer++) {
        try {
          garbageHello(fixture, listener);
          hostile(fixture, listener);
        } catch (RuntimeException | IOException e) {
          throw new AssertionError("seed " + seed + ", peer " + peer, e);
        }
        honest.stillWorks();
      }
      honest.close();
      assertEquals(0, fixture.server().strangers(), "seed " + seed);
      assertTrue(hostileCompletions > 0);
    }
  }

  /** A client and its end at the server that exchange a message now and then. */
  private final class Honest {
    private final QueuePair requester;
    private final QueuePair responder;
    private final MemoryRegion local;
    private final MemoryRegion there;
    private long rounds;

    Honest(ShmFixture fixture, Listener listener) {
      requester = fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      responder = next(listener).accept(NOTHING);
      local = fixture.client().register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
      there = fixture.server().register(fixture.clientMemory(64), Backing.none(64), Access.LOCAL);
      requester.poll(atClient, 4);
    }

    void stillWorks() {
      responder.postReceive(7, there, 0, 64);
      local.memory().set(ValueLayout.JAVA_LONG, 0, ++rounds);
      assertTrue(requester.post(Work.send().id(1).local(local, 0, 8)));
      Recorder recorder = new Recorder();
      assertEquals(1, responder.poll(recorder, 4), "seed " + seed);
      assertEquals(Status.SUCCESS, recorder.last().status());
      assertEquals(rounds, there.memory().get(ValueLayout.JAVA_LONG, 0));
    }

    void close() {
      requester.close();
      responder.close();
    }
  }

  private static ConnectionRequest next(Listener listener) {
    for (int i = 0; i < 1_000_000; i++) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        return request;
      }
    }
    throw new AssertionError("no request");
  }

  private void garbageHello(ShmFixture fixture, Listener listener) throws IOException {
    ShmSocket socket = connect(fixture.address());
    byte[] bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    if (random.nextBoolean()) {
      String[] names = {
        "../region",
        "queue-1-1",
        "registry",
        "socket",
        "held",
        "",
        "queue-1-1/../../x",
        "queue-0-0\0"
      };
      bytes = ShmSocket.hello(names[random.nextInt(names.length)]).array();
      bytes[random.nextInt(bytes.length)] ^=
          (byte) (random.nextInt(3) == 0 ? 1 << random.nextInt(8) : 0);
    }
    socket.channel().write(ByteBuffer.wrap(bytes));
    if (random.nextBoolean()) {
      socket.close();
    }
    for (int i = 0; i < 100; i++) {
      fixture.server().await(0);
      ConnectionRequest request = listener.poll();
      if (request != null) {
        throw new AssertionError("garbage became a request; seed " + seed);
      }
    }
    socket.close();
  }

  private void hostile(ShmFixture fixture, Listener listener) throws IOException {
    ShmDirectory served = ShmDirectory.open(Path.of(fixture.address()));
    QueueFile file = QueueFile.create(served);
    QueueLayout.initialise(file.queue(), 1, false, NOTHING);
    if (random.nextInt(4) == 0) {
      scribble(file.queue(), 0, 1700, 1 + random.nextInt(20));
    }
    ShmSocket socket = ShmSocket.connect(served);
    socket.sendHello(file.name());
    ConnectionRequest request = null;
    for (int i = 0; i < 200 && request == null; i++) {
      fixture.server().await(0);
      request = listener.poll();
    }
    if (request != null) {
      if (random.nextInt(8) == 0) {
        request.reject(NOTHING);
      } else {
        abuse(fixture, file.queue(), socket, request.accept(NOTHING));
      }
    }
    socket.close();
    file.remove();
    served.close();
  }

  private static ShmSocket connect(String address) throws IOException {
    try (ShmDirectory served = ShmDirectory.open(Path.of(address))) {
      return ShmSocket.connect(served);
    }
  }

  private void abuse(
      ShmFixture fixture, MemorySegment queue, ShmSocket socket, QueuePair responder) {
    MemorySegment memory = fixture.clientMemory(1 << 15);
    MemoryRegion region =
        fixture.server().register(memory, Backing.none(memory.byteSize()), Access.LOCAL);
    int[] ends = new int[1];
    CompletionHandler handler =
        (wrId, opcode, status, byteLength, imm) -> {
          hostileCompletions++;
          if (opcode == Opcode.RECEIVE && status == Status.SUCCESS) {
            assertTrue(byteLength >= 0 && byteLength <= 4096, "seed " + seed);
          }
          ends[0] += opcode == Opcode.DISCONNECT ? 1 : 0;
        };
    for (int i = 0; i < 40; i++) {
      switch (random.nextInt(5)) {
        case 0 -> scribble(queue, 0, QueueLayout.TO_RESPONDER_RING_OFFSET, random.nextInt(4));
        case 1 -> plausible(queue);
        case 2 ->
            scribble(
                queue,
                QueueLayout.TO_RESPONDER_RING_OFFSET,
                QueueLayout.BYTES,
                random.nextInt(2000));
        case 3 -> socket.ring();
        default ->
            queue.set(
                QueueLayout.LONG,
                QueueLayout.TO_REQUESTER_CONSUMED_OFFSET,
                random.nextLong(1 << 18));
      }
      for (int j = 0; j < 4; j++) {
        responder.postReceive(j, region, 4096L * j, 4096);
        responder.post(
            Work.send().id(j).local(region, 0, random.nextInt(QueueLayout.MESSAGE_BYTES_MAX)));
        responder.post(Work.read().id(j).local(region, 0, 8).remote(random.nextLong(), 0));
      }
      responder.poll(handler, random.nextInt(40));
      if (responder.arm()) {
        responder.await(0);
      }
    }
    assertTrue(ends[0] <= 1, "seed " + seed);
    fixture.server().statistics();
    responder.close();
  }

  /** Random words at random places. */
  private void scribble(MemorySegment queue, long from, long to, int words) {
    for (int i = 0; i < words; i++) {
      long at = from + random.nextInt((int) (to - from) / 8) * 8L;
      queue.set(
          QueueLayout.LONG, at, random.nextInt(3) == 0 ? random.nextInt(6) : random.nextLong());
    }
  }

  /** Headers that could be, one after the other. */
  private void plausible(MemorySegment queue) {
    long at = 0;
    for (int i = 0; i < 50; i++) {
      int length = random.nextInt(3) == 0 ? random.nextInt(1 << 17) : random.nextInt(300);
      queue.set(
          QueueLayout.LONG,
          QueueLayout.TO_RESPONDER_RING_OFFSET + at,
          Ring.header(1 + random.nextInt(4), random.nextInt(), length));
      at = at + Ring.recordBytes(length) & QueueLayout.RING_BYTES - 1 & ~7;
    }
  }

  @Test
  void aQueueFileThatIsNotWhatItShouldBeIsRefused() throws Exception {
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = fixture.server().listen(fixture.address());
      Path served = Path.of(fixture.address());
      Files.write(served.resolve("queue-1-1"), new byte[100]);
      Files.createSymbolicLink(served.resolve("queue-1-2"), served.resolve("registry"));
      Files.createDirectory(served.resolve("queue-1-3"));
      // The file is valid in every way, but no process holds its lock.
      ShmDirectory shm = ShmDirectory.open(served);
      QueueFile unlocked = QueueFile.create(shm);
      QueueLayout.initialise(unlocked.queue(), 1, false, NOTHING);
      unlocked.forget();
      for (String name :
          new String[] {
            "queue-1-1",
            "queue-1-2",
            "queue-1-3",
            "queue-9-9",
            "spare-0",
            "spare-99",
            unlocked.name()
          }) {
        ShmSocket socket = ShmSocket.connect(shm);
        socket.sendHello(name);
        boolean open = true;
        for (int i = 0; i < 1000 && open; i++) {
          fixture.server().await(0);
          assertEquals(null, listener.poll(), name);
          open = socket.drain();
        }
        assertTrue(!open, name + " is refused");
        socket.close();
      }
      unlocked.unmap();
      shm.close();
    }
    // The next server removes the files that it can remove, and starts in spite of the others.
    try (ShmDevice next =
        ShmDevice.open(ShmOptions.toServe(directory.resolve("shm"), System::nanoTime))) {
      assertEquals(0, next.strangers());
      assertTrue(!Files.exists(directory.resolve("shm").resolve("queue-1-1")));
    }
  }

  @Test
  void oneFileServesOneConnection() throws Exception {
    try (ShmFixture fixture = new ShmFixture(directory);
        Arena arena = Arena.ofConfined()) {
      Listener listener = fixture.server().listen(fixture.address());
      ShmDirectory served = ShmDirectory.open(Path.of(fixture.address()));
      QueueFile file = QueueFile.create(served);
      QueueLayout.initialise(file.queue(), 1, false, arena.allocate(4));
      ShmSocket first = ShmSocket.connect(served);
      first.sendHello(file.name());
      ConnectionRequest request = next(listener);
      for (int round = 0; round < 2; round++) {
        ShmSocket second = ShmSocket.connect(served);
        second.sendHello(file.name());
        for (int i = 0; i < 100; i++) {
          fixture.server().await(0);
          assertEquals(null, listener.poll());
        }
        second.close();
        if (round == 0) {
          request.accept(NOTHING);
        }
      }
      first.close();
      file.remove();
      served.close();
    }
  }
}
