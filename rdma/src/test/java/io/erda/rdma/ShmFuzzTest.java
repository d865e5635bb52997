package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.fuzz.Fuzz;
import io.erda.pmem.Backing;
import io.erda.pmem.ReadAhead;
import io.erda.pmem.UntrustedFileException;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import io.erda.rdma.rings.RemoteRegion;
import io.erda.rdma.rings.Ring;
import io.erda.rdma.shm.QueueFile;
import io.erda.rdma.shm.ShmDirectory;
import io.erda.rdma.shm.ShmRegistry;
import io.erda.rdma.shm.ShmRegistryView;
import io.erda.rdma.shm.ShmSocket;
import io.erda.rdma.shm.ShortenedFileException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bytes that another process may have stored: in HELLO, rings, queue file and registry. A message
 * is delivered whole or the connection ends; nothing is loaded outside of what was mapped.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
final class ShmFuzzTest {
  private static final long RING = QueueLayout.TO_RESPONDER_RING_OFFSET;
  private static final long CONSUMED = QueueLayout.TO_RESPONDER_CONSUMED_OFFSET;
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  @TempDir private Path directory;

  @Test
  void hellos() {
    byte[] hello = ShmSocket.hello("queue-4711-0").array();
    Fuzz.run(
        ShmFuzzTest.class,
        List.of(hello, ShmSocket.hello("queue-1-2147483647").array()),
        1 << 20,
        (input, random) -> {
          String name = ShmSocket.helloName(ByteBuffer.wrap(Arrays.copyOf(input, 64)));
          if (name != null) {
            assertTrue(QueueFile.isName(name) && !name.contains("/"), name);
            assertEquals(name, ShmSocket.helloName(ShmSocket.hello(name)));
          }
        });
  }

  @Test
  void rings() {
    MemorySegment queue = Arena.ofAuto().allocate(QueueLayout.BYTES, 128);
    Ring.Producer producer = new Ring.Producer(queue, RING, CONSUMED);
    MemorySegment message = Arena.ofAuto().allocate(256);
    for (int i = 0; i < 40; i++) {
      producer.offer(
          i % 3 == 0 ? Ring.TYPE_WRITE_IMM : Ring.TYPE_SEND, i, message, 0, i % 3 == 0 ? 4 : 5 * i);
    }
    byte[] valid = queue.asSlice(RING, 4096).toArray(ValueLayout.JAVA_BYTE);
    MemorySegment out = MemorySegment.ofArray(new byte[QueueLayout.MESSAGE_BYTES_MAX]);
    Fuzz.run(
        ShmFuzzTest.class,
        List.of(valid),
        1 << 20,
        (input, random) -> {
          queue.fill((byte) 0);
          // The end of the ring too: that is where lengths lead out of it.
          long at = random.nextBoolean() ? 0 : QueueLayout.RING_BYTES - 1024;
          Ring.Consumer consumer = new Ring.Consumer(queue, RING, CONSUMED);
          advance(queue, consumer, at);
          MemorySegment.copy(
              input,
              0,
              queue,
              ValueLayout.JAVA_BYTE,
              RING + at,
              (int) Math.min(input.length, QueueLayout.RING_BYTES - at));
          consume(consumer, out);
        });
  }

  private static void advance(MemorySegment queue, Ring.Consumer consumer, long to) {
    while (consumer.position() < to) {
      queue.set(QueueLayout.LONG, RING + consumer.position(), Ring.header(Ring.TYPE_SEND, 0, 1016));
      consumer.consume(consumer.next());
    }
    queue.asSlice(RING, to).fill((byte) 0);
  }

  private static void consume(Ring.Consumer consumer, MemorySegment out) {
    long begun = consumer.position();
    while (consumer.position() - begun < 2 * QueueLayout.RING_BYTES) {
      long header = consumer.next();
      if (header == Ring.EMPTY || header == Ring.FAULT) {
        return;
      }
      if (Ring.type(header) == Ring.TYPE_SEND) {
        consumer.copyTo(out, 0, Ring.length(header));
      } else {
        assertEquals(Ring.TYPE_WRITE_IMM, Ring.type(header));
        consumer.writtenBytes();
      }
      consumer.consume(header);
    }
  }

  /** A server that stores anything into the file of a connection that it accepted. */
  @Test
  void queueFilesAtTheClient() throws Exception {
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = fixture.server().listen(fixture.address());
      MemoryRegion there = region(fixture);
      MemoryRegion local =
          fixture.client().register(fixture.clientMemory(8192), Backing.none(8192), Access.LOCAL);
      byte[] valid = new byte[QueueLayout.RESPONDER_DATA_OFFSET > 0 ? 2048 : 0];
      Fuzz.run(
          ShmFuzzTest.class,
          List.of(valid),
          1 << 20,
          (input, random) -> {
            QueuePair requester =
                fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(5));
            Path name = newest(fixture);
            QueuePair responder = accept(fixture, listener, requester);
            try (Arena arena = Arena.ofConfined()) {
              abuse(map(name, arena), input, random, requester, local, there);
            }
            requester.close();
            responder.close();
          });
    }
  }

  private MemoryRegion region(ShmFixture fixture) {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(4096);
    memory.segment().fill((byte) 7);
    return fixture
        .server()
        .register(memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
  }

  private static Path newest(ShmFixture fixture) throws IOException {
    try (var files = Files.list(Path.of(fixture.address()))) {
      return files
          .filter(file -> QueueFile.isName(file.getFileName().toString()))
          .findFirst()
          .orElseThrow();
    }
  }

  private static QueuePair accept(ShmFixture fixture, Listener listener, QueuePair requester) {
    QueuePair responder = null;
    for (int i = 0; i < 1_000_000 && responder == null; i++) {
      fixture.server().await(0);
      ConnectionRequest request = listener.poll();
      responder = request == null ? null : request.accept(NOTHING);
    }
    Recorder recorder = new Recorder();
    for (int i = 0; i < 1_000_000 && !recorder.has(Opcode.CONNECT); i++) {
      requester.poll(recorder, 4);
    }
    assertTrue(responder != null && recorder.has(Opcode.CONNECT));
    return responder;
  }

  private static MemorySegment map(Path file, Arena arena) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, QueueLayout.BYTES, arena);
    }
  }

  private static void abuse(
      MemorySegment queue,
      byte[] input,
      RandomGenerator random,
      QueuePair requester,
      MemoryRegion local,
      MemoryRegion there) {
    int[] disconnects = new int[1];
    CompletionHandler handler =
        (wrId, opcode, status, byteLength, imm) -> {
          disconnects[0] += opcode == Opcode.DISCONNECT ? 1 : 0;
          if (opcode == Opcode.RECEIVE && status == Status.SUCCESS) {
            assertTrue(byteLength >= 0 && byteLength <= 4096);
          }
          if (opcode == Opcode.READ && status == Status.SUCCESS) {
            assertArrayEquals(
                new byte[] {7, 7}, local.memory().asSlice(4096, 2).toArray(ValueLayout.JAVA_BYTE));
          }
        };
    for (int round = 0; round < 6; round++) {
      for (int i = random.nextInt(8); i > 0; i--) {
        long at =
            random.nextBoolean()
                ? random.nextInt(2048 / 8) * 8L
                : QueueLayout.TO_REQUESTER_RING_OFFSET + random.nextInt(64) * 8L;
        queue.set(QueueLayout.LONG, at, random.nextInt(3) == 0 ? header(random) : Fuzz.any(random));
      }
      int length = Math.min(input.length, 2048);
      if (random.nextInt(4) == 0) {
        MemorySegment.copy(input, 0, queue, ValueLayout.JAVA_BYTE, 0, length);
      }
      requester.postReceive(round, local, 0, 4096);
      requester.post(Work.send().id(9).local(local, 0, random.nextInt(4096)));
      requester.post(
          Work.read().id(10).local(local, 4096, 8).remote(there.remoteKey(), 0).signaled());
      requester.post(Work.write().id(11).local(local, 4096, 0).remote(there.remoteKey(), 8));
      requester.poll(handler, 8);
      if (requester.arm()) {
        requester.await(0);
      }
    }
    assertTrue(disconnects[0] <= 1);
  }

  private static long header(RandomGenerator random) {
    return Ring.header(random.nextInt(1, 5), random.nextInt(), random.nextInt(1 << 15));
  }

  /** A registry in which anything is registered: what is mapped is a file at its true length. */
  @Test
  void registries() throws Exception {
    Path served = Files.createDirectory(directory.resolve("served"));
    Path file = directory.resolve("memory");
    Files.write(file, new byte[8192]);
    Files.createSymbolicLink(directory.resolve("zero"), Path.of("/dev/zero"));
    byte[] slot = slot("memory", ShmFixture.inode(file));
    List<byte[]> valid = new ArrayList<>(List.of(slot, slot("../memory", 1)));
    valid.add(slot("zero", ShmFixture.inode(Path.of("/dev/zero"))));
    valid.add(slot(".", ShmFixture.inode(served)));
    Path registry = served.resolve(ShmRegistry.FILE);
    Fuzz.run(
        ShmFuzzTest.class,
        valid,
        1 << 20,
        (input, random) -> {
          try (Arena arena = Arena.ofConfined();
              FileChannel channel =
                  FileChannel.open(
                      registry,
                      StandardOpenOption.CREATE,
                      StandardOpenOption.READ,
                      StandardOpenOption.WRITE)) {
            MemorySegment bytes =
                channel.map(FileChannel.MapMode.READ_WRITE, 0, RegistryLayout.BYTES, arena);
            header(bytes, random);
            MemorySegment.copy(
                input,
                0,
                bytes,
                ValueLayout.JAVA_BYTE,
                RegistryLayout.FIRST_SLOT_OFFSET,
                Math.min(input.length, RegistryLayout.SLOT_BYTES));
          }
          reach(served, random);
        });
    Files.delete(directory.resolve("zero")); // JUnit warns of links that lead out of its directory
  }

  private static byte[] slot(String path, long inode) {
    MemorySegment registry = Arena.ofAuto().allocate(RegistryLayout.BYTES, 8);
    byte[] name = path.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    ShmRegistry.writeSlot(registry, 0, 0, 8192, inode, 3, name, RegistryLayout.key(2, 0));
    return registry
        .asSlice(RegistryLayout.FIRST_SLOT_OFFSET, RegistryLayout.SLOT_BYTES)
        .toArray(ValueLayout.JAVA_BYTE);
  }

  private static void header(MemorySegment registry, RandomGenerator random) {
    boolean right = random.nextInt(8) > 0;
    registry.set(
        QueueLayout.LONG,
        RegistryLayout.MAGIC_OFFSET,
        right ? RegistryLayout.MAGIC : Fuzz.any(random));
    registry.set(QueueLayout.INT, RegistryLayout.VERSION_OFFSET, RegistryLayout.VERSION);
    registry.set(
        QueueLayout.INT,
        RegistryLayout.SLOTS_OFFSET,
        random.nextInt(8) > 0 ? RegistryLayout.SLOTS : (int) Fuzz.any(random));
    registry.set(QueueLayout.LONG, RegistryLayout.ID_OFFSET, 1);
  }

  private static void reach(Path served, RandomGenerator random) throws Exception {
    try (Arena arena = Arena.ofShared();
        ShmDirectory shm = ShmDirectory.open(served);
        ShmRegistryView view =
            ShmRegistryView.open(shm, 1, Files.getOwner(served), arena, new ReadAhead())) {
      if (view != null) {
        reach(view, random);
      }
    }
  }

  private static void reach(ShmRegistryView view, RandomGenerator random) throws Exception {
    long key =
        random.nextInt(4) > 0
            ? view.registry().get(QueueLayout.LONG, RegistryLayout.FIRST_SLOT_OFFSET)
            : Fuzz.any(random);
    RemoteRegion region;
    try {
      region = view.reach(key, random.nextBoolean());
    } catch (UntrustedFileException | ShortenedFileException e) {
      return;
    }
    if (region != null) {
      assertTrue(
          region.length() >= 0 && region.length() <= 8192, () -> "length " + region.length());
      assertEquals(0, sum(region.memory()), "the file's own bytes");
      view.leave(region);
    }
  }

  private static long sum(MemorySegment bytes) {
    long sum = 0;
    for (long i = 0; i < bytes.byteSize(); i++) {
      sum += bytes.get(ValueLayout.JAVA_BYTE, i);
    }
    return sum;
  }
}
