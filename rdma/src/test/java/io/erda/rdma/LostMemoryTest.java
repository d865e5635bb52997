package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.rdma.shm.ShmRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A requester whose loads and stores meet the end of a file that somebody shortened. The work ends
 * with a separate status, whichever compiler made the code, and no other work is affected.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LostMemoryTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final int BYTES = 1 << 16;
  private static final int PAGE = 4096;
  private static final int ROUNDS = 40;

  /** In this round and all later ones the code is compiled. */
  private static final int COMPILED = 10;

  @TempDir private Path directory;

  private final Recorder recorder = new Recorder();
  private ShmFixture fixture;
  private Backing shortened;
  private long lost;
  private long whole;
  private QueuePair requester;
  private MemoryRegion local;

  @BeforeEach
  void connect() throws IOException {
    fixture = new ShmFixture(directory);
    DeviceFixture.ServerMemory first = fixture.serverMemory(BYTES);
    shortened = first.backing();
    lost = register(first);
    whole = register(fixture.serverMemory(BYTES));
    Listener listener = fixture.server().listen(fixture.address());
    requester = fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(20));
    ConnectionRequest request = null;
    while (request == null) {
      request = listener.poll();
    }
    request.accept(NOTHING);
    while (requester.poll(recorder, 1) == 0) {
      Thread.onSpinWait();
    }
    assertEquals(Status.SUCCESS, recorder.last().status());
    local = fixture.client().register(fixture.clientMemory(BYTES), Backing.none(BYTES), 0);
  }

  private long register(DeviceFixture.ServerMemory memory) {
    return fixture
        .server()
        .register(
            memory.segment(),
            memory.backing(),
            Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)
        .remoteKey();
  }

  @AfterEach
  void close() {
    requester.close();
    fixture.close();
  }

  private void resize(long bytes) {
    try (FileChannel file = FileChannel.open(shortened.file(), StandardOpenOption.WRITE)) {
      if (bytes < file.size()) {
        file.truncate(bytes);
      } else {
        ShmRegistry.writeZeros(file, bytes);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private interface Posting {
    /** Posts it, to a key; what it completes with. */
    int on(long key);
  }

  private int completed(boolean posted) {
    assertTrue(posted);
    assertEquals(1, requester.poll(recorder, 1));
    return recorder.last().status();
  }

  /** Ends well, then with the file named, and well again when the file is whole. */
  private void isToldOfTheLoss(Posting work) {
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = round < COMPILED ? 1 : 2_000; i > 0; i--) {
        assertEquals(Status.SUCCESS, work.on(lost));
      }
      resize(PAGE);
      for (int again = 0; again < 1 + round % 3; again++) {
        assertEquals(Status.MEMORY_LOST, work.on(lost), "round " + round);
      }
      assertEquals(
          shortened.file().getFileName()
              + " was shortened while it was in use: it has 4096 of 65536 bytes",
          requester.lostRegion());
      assertEquals(Status.SUCCESS, work.on(whole), "what is there is used on");
      resize(BYTES);
    }
  }

  @Test
  void ofARead() {
    isToldOfTheLoss(key ->
        completed(
            requester.post(
                Work.read().id(1).local(local, 0, 2 * PAGE).remote(key, PAGE + 64).signaled())));
  }

  @Test
  void ofAReadOfPlacesThatDisagree() {
    isToldOfTheLoss(key ->
        completed(
            requester.post(
                Work.read().id(1).local(local, 3, 100).remote(key, PAGE + 64).signaled())));
  }

  @Test
  void ofAWrite() {
    isToldOfTheLoss(key ->
        completed(
            requester.post(
                Work.write().id(1).local(local, 0, 2 * PAGE).remote(key, PAGE - 64).signaled())));
  }

  @Test
  void ofAWordThatIsWritten() {
    isToldOfTheLoss(key ->
        completed(
            requester.post(Work.atomicWrite().id(1).remote(key, 2 * PAGE).value(7).signaled())));
  }

  @Test
  void ofAWordThatIsSwapped() {
    isToldOfTheLoss(key ->
        completed(
            requester.post(
                Work.compareAndSwap()
                    .id(1)
                    .local(local, 0, Long.BYTES)
                    .remote(key, 2 * PAGE)
                    .expected(0)
                    .value(0)
                    .signaled())));
  }

  /** Also tests a READ of three words, for which there is separate code. */
  @Test
  void aReadInTheCallThatMeetsNothingDidNotHappen() {
    for (int length : new int[] {24, 2 * PAGE}) {
      // The first READ of a region is none in the call.
      completed(
          requester.post(Work.read().id(1).local(local, 0, length).remote(lost, PAGE).signaled()));
      completed(
          requester.post(Work.read().id(1).local(local, 0, length).remote(whole, PAGE).signaled()));
      for (int round = 0; round < ROUNDS; round++) {
        for (int i = round < COMPILED ? 1 : 20_000; i > 0; i--) {
          assertTrue(requester.readNow(Work.read().local(local, 0, length).remote(lost, PAGE)));
        }
        resize(PAGE);
        assertFalse(
            requester.readNow(Work.read().local(local, 0, length).remote(lost, PAGE)),
            "round " + round);
        assertTrue(
            requester.readNow(Work.read().local(local, 0, length).remote(whole, PAGE)),
            "what is there is read on");
        resize(BYTES);
      }
    }
  }

  /** As of a client that connects afterwards. */
  @Test
  void ofARegionThatIsReachedForTheFirstTime() {
    resize(PAGE);
    assertEquals(
        Status.MEMORY_LOST,
        completed(
            requester.post(Work.read().id(1).local(local, 0, 64).remote(lost, 0).signaled())));
    assertTrue(requester.lostRegion().contains("4096 of 65536 bytes"), requester.lostRegion());
    assertEquals(
        Status.MEMORY_LOST,
        completed(
            requester.post(Work.write().id(1).local(local, 0, 64).remote(lost, 0).signaled())));
  }

  /** After that it is unknown which messages the responder had taken. */
  @Test
  void ofAConnectionsFileEverythingCountsAsTaken() throws IOException {
    assertTrue(requester.post(Work.send().id(1).local(local, 0, 64)));
    Path queue = queueFile();
    try (FileChannel file = FileChannel.open(queue, StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
    assertFalse(requester.readNow(Work.read().local(local, 0, 64).remote(whole, 0)));
    assertEquals(
        Status.FENCED,
        completed(
            requester.post(Work.read().id(1).local(local, 0, 64).remote(whole, 0).signaled())));
    requester.claims().withdraw();
    assertEquals(Long.MAX_VALUE, requester.claims().claimed());
    assertEquals(0, requester.claims().finished());
    assertEquals(0, local.memory().get(ValueLayout.JAVA_LONG, 0));
  }

  private Path queueFile() throws IOException {
    try (var files = java.nio.file.Files.list(directory.resolve("shm"))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("queue-"))
          .findFirst()
          .orElseThrow();
    }
  }
}
