package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.rings.RegistryLayout;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Files of a served directory that are not what they should be, by an accident or because somebody
 * prepared them.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmFaultsTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final long PATIENCE_NS = 30_000_000_000L;
  private static final int PRECIOUS_BYTES = 8192;

  @TempDir private Path directory;

  private final Arena arena = Arena.ofShared();
  private final Recorder recorder = new Recorder();

  @AfterEach
  void closeArena() {
    arena.close();
  }

  /** The kinds of files that a name leads to instead of the right file. */
  enum Fault {
    EMPTY,
    ZEROS,
    HALF_ZEROS,
    TRUNCATED,
    MISSING,
    DIRECTORY,
    FULL_DIRECTORY,
    LINK_TO_NOWHERE,
    LINK_TO_A_FILE,
    SECOND_NAME_OF_A_FILE,
    PIPE
  }

  static Stream<Arguments> faults() {
    return Stream.of(
            "registry", "registry.new", "socket", "held", "server.lock", "spare-0", "queue-1-1")
        .flatMap(name -> Stream.of(Fault.values()).map(fault -> Arguments.of(name, fault)));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void nothingKeepsAServerFromServing(String name, Fault fault) throws Exception {
    Path served = directory.resolve("shm");
    byte[] precious = new byte[PRECIOUS_BYTES];
    Arrays.fill(precious, (byte) 7);
    Path file = Files.write(directory.resolve("precious"), precious);
    long before;
    try (ShmFixture fixture = new ShmFixture(directory)) {
      before = key(fixture);
    }
    inject(served.resolve(name), fault, file);
    try (ShmFixture fixture = new ShmFixture(Files.createDirectories(directory))) {
      assertNotEquals(before, keyInNewFile(fixture), "no key comes twice");
      Listener listener = fixture.server().listen(fixture.address());
      QueuePair queuePair =
          fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      QueuePair answer = request(fixture.server(), listener).accept(NOTHING);
      await(queuePair, Opcode.CONNECT);
      assertEquals(Status.SUCCESS, recorder.last().status());
      queuePair.close();
      answer.close();
    }
    assertArrayEquals(precious, Files.readAllBytes(file), "another file was written");
    removeLinks();
  }

  @ParameterizedTest
  @MethodSource("faults")
  void nothingKeepsAnApplicationFromHoldingIt(String name, Fault fault) throws Exception {
    Path served = directory.resolve("shm");
    Path file = Files.write(directory.resolve("precious"), new byte[PRECIOUS_BYTES]);
    new ShmFixture(directory).close();
    inject(served.resolve(name), fault, file);
    try (ShmDevice holder = ShmDevice.open(ShmOptions.toHold(served, System::nanoTime));
        ShmDevice client = ShmDevice.open(ShmOptions.toConnect(System::nanoTime))) {
      assertEquals(0, holder.strangers());
      QueuePair queuePair = client.connect(served.toString(), NOTHING, Duration.ofSeconds(20));
      await(queuePair, Opcode.CONNECT);
      assertEquals(Status.TAKEN, recorder.last().status());
      queuePair.close();
    }
    removeLinks();
  }

  /** As a peer that has mapped the registry would see it that lost its place in the directory. */
  @Test
  void keysGoOnAfterTheRegistryIsLostOrAnOlderOneIsPutBack() throws Exception {
    Path registry = directory.resolve("shm").resolve("registry");
    long last = 0;
    byte[] old = null;
    for (int round = 0; round < 6; round++) {
      try (ShmFixture fixture = new ShmFixture(directory)) {
        long key = keyInNewFile(fixture);
        assertTrue(key > last, key + " after " + last);
        last = key;
      }
      old = old == null ? Files.readAllBytes(registry) : old;
      switch (round % 3) {
        case 0 -> Files.delete(registry);
        case 1 -> Files.write(registry, new byte[(int) RegistryLayout.BYTES]);
        default -> Files.write(registry, old);
      }
    }
  }

  /** How a name may lead out of the directory that the regions are in. */
  enum Prepared {
    ABSOLUTE,
    UPWARDS,
    LINK
  }

  @ParameterizedTest
  @EnumSource(Prepared.class)
  void aPreparedRegistryLeadsIntoNoOtherFile(Prepared how) throws Exception {
    Path store = Files.createDirectory(directory.resolve("store"));
    Path file = Files.write(directory.resolve("precious"), new byte[PRECIOUS_BYTES]);
    try (ShmFixture fixture = new ShmFixture(store)) {
      long key = key(fixture);
      Listener listener = fixture.server().listen(fixture.address());
      QueuePair queuePair =
          fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
      QueuePair answer = request(fixture.server(), listener).accept(NOTHING);
      await(queuePair, Opcode.CONNECT);
      String name =
          switch (how) {
            case ABSOLUTE -> file.toAbsolutePath().toString();
            case UPWARDS -> "../../precious";
            case LINK -> {
              Files.createSymbolicLink(store.resolve("link"), file);
              // Relative to the directory of the registry, as it once was, and to the one around.
              Files.createSymbolicLink(store.resolve("shm").resolve("link"), file);
              yield "link";
            }
          };
      prepare(store.resolve("shm").resolve("registry"), key, name, ShmFixture.inode(file));
      MemorySegment memory = fixture.clientMemory(64);
      memory.fill((byte) 9);
      MemoryRegion local = fixture.client().register(memory, Backing.none(64), Access.LOCAL);
      recorder.all.clear();
      assertTrue(queuePair.post(Work.write().id(1).local(local, 0, 64).remote(key, 0).signaled()));
      await(queuePair, Opcode.WRITE);
      assertArrayEquals(new byte[PRECIOUS_BYTES], Files.readAllBytes(file));
      assertEquals(Status.UNTRUSTED, recorder.last().status());
      queuePair.close();
      answer.close();
    }
    Files.deleteIfExists(store.resolve("link"));
    Files.deleteIfExists(store.resolve("shm").resolve("link"));
  }

  @Test
  void aLinkInPlaceOfTheDirectoryIsNotFollowed() throws Exception {
    Path real = Files.createDirectory(directory.resolve("real"));
    Path link = Files.createSymbolicLink(directory.resolve("shm"), real);
    try (ShmDevice client = ShmDevice.open(ShmOptions.toConnect(System::nanoTime))) {
      QueuePair queuePair = client.connect(link.toString(), NOTHING, Duration.ofSeconds(20));
      await(queuePair, Opcode.CONNECT);
      assertEquals(Status.UNTRUSTED, recorder.last().status());
      queuePair.close();
    }
    IOException e =
        assertThrows(
            IOException.class, () -> ShmDevice.open(ShmOptions.toServe(link, System::nanoTime)));
    assertTrue(e.getMessage().contains("not a directory"), e.getMessage());
    Files.delete(link);
    assertFalse(Files.exists(real.resolve("registry")));
  }

  private static void prepare(Path registry, long key, String name, long inode) throws IOException {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    try (RandomAccessFile file = new RandomAccessFile(registry.toFile(), "rw")) {
      long at = RegistryLayout.slotOffset(RegistryLayout.slot(key));
      file.seek(at + 24);
      file.writeLong(Long.reverseBytes(inode));
      file.seek(at + 36);
      file.writeInt(Integer.reverseBytes(bytes.length));
      file.write(bytes);
      assertTrue(40 + bytes.length <= RegistryLayout.SLOT_BYTES);
    }
  }

  private static void inject(Path file, Fault fault, Path other) throws Exception {
    byte[] bytes = Files.isRegularFile(file) ? Files.readAllBytes(file) : new byte[200_000];
    remove(file);
    switch (fault) {
      case EMPTY -> Files.createFile(file);
      case ZEROS -> Files.write(file, new byte[bytes.length]);
      case HALF_ZEROS -> {
        Arrays.fill(bytes, 0, bytes.length / 2, (byte) 0);
        Files.write(file, bytes);
      }
      case TRUNCATED -> Files.write(file, Arrays.copyOf(bytes, 100));
      case MISSING -> {}
      case DIRECTORY -> Files.createDirectory(file);
      case FULL_DIRECTORY -> Files.createFile(Files.createDirectory(file).resolve("inside"));
      case LINK_TO_NOWHERE -> Files.createSymbolicLink(file, Path.of("nowhere"));
      case LINK_TO_A_FILE -> Files.createSymbolicLink(file, other);
      case SECOND_NAME_OF_A_FILE -> Files.createLink(file, other);
      case PIPE -> assertEquals(0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
    }
  }

  private static void remove(Path file) throws IOException {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      try (Stream<Path> all = Files.walk(file)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }

  /** JUnit warns of links that lead out of its directory. */
  private void removeLinks() throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.filter(Files::isSymbolicLink).toList()) {
        Files.delete(each);
      }
    }
  }

  private static long key(ShmFixture fixture) {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(4096);
    return fixture
        .server()
        .register(memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE)
        .remoteKey();
  }

  private long keyInNewFile(ShmFixture fixture) throws IOException {
    List<Path> old;
    try (Stream<Path> files = Files.list(directory)) {
      old = files.filter(each -> each.getFileName().toString().startsWith("memory-")).toList();
    }
    for (Path each : old) {
      Files.delete(each);
    }
    return key(fixture);
  }

  private static ConnectionRequest request(ShmDevice device, Listener listener) {
    long end = System.nanoTime() + PATIENCE_NS;
    while (System.nanoTime() - end < 0) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        return request;
      }
      device.await(100_000_000);
    }
    throw new AssertionError("no request");
  }

  private void await(QueuePair queuePair, int opcode) {
    long end = System.nanoTime() + PATIENCE_NS;
    while (!recorder.has(opcode)) {
      assertTrue(System.nanoTime() - end < 0, () -> "did not come about; saw " + recorder.all);
      queuePair.poll(recorder, 16);
      Thread.onSpinWait();
    }
  }
}
