package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.rdma.rings.QueueLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The tests that every device must pass. The tests of a device extend this class with its {@link
 * DeviceFixture}.
 *
 * <p>Tests step both ends from one thread; those that need threads are skipped for a device that
 * has none (virtual time).
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class DeviceContract {
  protected static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /**
   * Steps until a test gives up; a step of a real device takes at least a microsecond when it is
   * idle.
   */
  private static final int STEPS_MAX = 3_000_000;

  @TempDir protected Path directory;

  protected DeviceFixture fixture;
  protected Device server;
  protected Device client;
  protected Listener listener;
  protected QueuePair requester;
  protected QueuePair responder;
  protected final Recorder atClient = new Recorder();
  protected final Recorder atServer = new Recorder();
  protected MemoryRegion clientRegion;
  protected MemoryRegion serverLocal;
  protected MemorySegment clientMemory;
  protected MemorySegment serverLocalMemory;

  protected DeviceContract() {}

  protected abstract DeviceFixture open(Path emptyDirectory) throws IOException;

  /** Whether READs of whole words are done in the call when nothing is in the way. */
  protected boolean readsInTheCall() {
    return false;
  }

  @BeforeEach
  void openDevices() throws IOException {
    fixture = open(directory);
    server = fixture.server();
    client = fixture.client();
    listener = server.listen(fixture.address());
    clientMemory = fixture.clientMemory(1 << 17);
    clientRegion =
        client.register(clientMemory, Backing.none(clientMemory.byteSize()), Access.LOCAL);
    DeviceFixture.ServerMemory local = fixture.serverMemory(1 << 17);
    serverLocalMemory = local.segment();
    serverLocal = server.register(serverLocalMemory, local.backing(), Access.LOCAL);
  }

  @AfterEach
  void closeDevices() {
    fixture.close();
  }

  // Connections.

  @Test
  void connectsWithPrivateDataBothWays() {
    requester = client.connect(fixture.address(), bytes("who asks"), PATIENCE);
    assertEquals(0, requester.privateData().byteSize());
    ConnectionRequest request = nextRequest();
    assertEquals("who asks", text(request.privateData()));
    assertNotNull(request.peer());
    responder = request.accept(bytes("who answers"));
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(new Recorder.Completion(0, Opcode.CONNECT, Status.SUCCESS, 0, 0), atClient.last());
    assertEquals("who answers", text(requester.privateData()));
    assertThrows(IllegalStateException.class, () -> request.reject(NOTHING));
  }

  @Test
  void carriesTheLongestPrivateData() {
    byte[] longest = new byte[Device.PRIVATE_DATA_MAX];
    new Random(1).nextBytes(longest);
    requester = client.connect(fixture.address(), MemorySegment.ofArray(longest), PATIENCE);
    ConnectionRequest request = nextRequest();
    assertEquals(-1, request.privateData().mismatch(MemorySegment.ofArray(longest)));
    responder = request.accept(MemorySegment.ofArray(longest));
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(-1, requester.privateData().mismatch(MemorySegment.ofArray(longest)));
    MemorySegment tooLong = MemorySegment.ofArray(new byte[Device.PRIVATE_DATA_MAX + 1]);
    assertThrows(
        IllegalArgumentException.class, () -> client.connect(fixture.address(), tooLong, PATIENCE));
  }

  @Test
  void refusesWithPrivateData() {
    requester = client.connect(fixture.address(), NOTHING, PATIENCE);
    requester.postReceive(5, clientRegion, 0, 64);
    nextRequest().reject(bytes("no room"));
    until(() -> atClient.has(Opcode.CONNECT) && atClient.has(Opcode.RECEIVE));
    assertEquals(Status.REJECTED, atClient.first(Opcode.CONNECT).status());
    assertEquals("no room", text(requester.privateData()));
    assertEquals(Status.FLUSHED, atClient.first(Opcode.RECEIVE).status());
    steps(200);
    assertEquals(2, atClient.all.size(), "nothing more, no DISCONNECT");
  }

  @Test
  void nobodyListensIsUnreachable() {
    requester = client.connect(fixture.deadAddress(), NOTHING, PATIENCE);
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(Status.UNREACHABLE, atClient.last().status());
    requester.post(send(1, 8));
    until(() -> atClient.has(Opcode.SEND));
    assertEquals(Status.FLUSHED, atClient.last().status());
    requester.close();
  }

  @Test
  void nobodyAnswersIsATimeout() {
    requester = client.connect(fixture.address(), NOTHING, Duration.ofMillis(30));
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(Status.TIMEOUT, atClient.last().status());
    // The server may still get the request; then it learns at once that the requester has left.
    ConnectionRequest late = listener.poll();
    if (late != null) {
      responder = late.accept(NOTHING);
      until(() -> atServer.has(Opcode.DISCONNECT));
    }
  }

  @Test
  void aClosedListenerIsNotReached() {
    listener.close();
    requester = client.connect(fixture.address(), NOTHING, Duration.ofMillis(300));
    until(() -> atClient.has(Opcode.CONNECT));
    // Over shared memory a device that lives may listen again.
    int status = atClient.last().status();
    assertTrue(status == Status.UNREACHABLE || status == Status.TIMEOUT, Status.name(status));
  }

  @Test
  void oneServerTakesManyClients() {
    QueuePair[] ends = new QueuePair[20];
    QueuePair[] answers = new QueuePair[ends.length];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = client.connect(fixture.address(), bytes("client " + i), PATIENCE);
      requester = ends[i];
      ConnectionRequest request = nextRequest();
      assertEquals("client " + i, text(request.privateData()));
      answers[i] = request.accept(NOTHING);
      answers[i].postReceive(i, serverLocal, 64L * i, 64);
      int before = i;
      until(() -> atClient.of(Opcode.CONNECT).size() > before);
      assertTrue(ends[i].post(Work.send().local(clientRegion, 0, 8)));
      ends[i].poll(atClient, 1);
    }
    for (QueuePair answer : answers) {
      responder = answer;
      int before = atServer.all.size();
      until(() -> atServer.all.size() > before);
      assertEquals(Opcode.RECEIVE, atServer.last().opcode());
    }
  }

  // Messages.

  @Test
  void messagesArriveInOrderAndWholeThroughFullRings() {
    long seed = seed();
    Random random = new Random(seed);
    connect();
    int messages = 3000;
    ArrayDeque<byte[]> expected = new ArrayDeque<>();
    int sent = 0;
    int received = 0;
    int refused = 0;
    for (int slot = 0; slot < 4; slot++) {
      assertTrue(responder.postReceive(slot, serverLocal, slot * 16_384L, 16_384));
    }
    int seen = 0;
    int steps = 0;
    byte[] next = message(random);
    while (received < messages) {
      int burst = random.nextInt(40);
      for (int i = 0; i < burst && sent < messages; i++) {
        MemorySegment.copy(next, 0, clientMemory, ValueLayout.JAVA_BYTE, 0, next.length);
        if (!requester.post(send(sent, next.length))) {
          refused++;
          break;
        }
        expected.add(next);
        sent++;
        next = message(random);
        // Local memory may be reused only when the SEND completed; here each is its own, so wait
        // for it where it isn't immediate.
        if (!fixture.hasThreads()) {
          steps(50);
        }
      }
      int limit = random.nextInt(6);
      responder.poll(atServer, limit);
      requester.poll(atClient, 8);
      fixture.step();
      for (; seen < atServer.all.size(); seen++) {
        Recorder.Completion completion = atServer.all.get(seen);
        byte[] want = expected.remove();
        assertEquals(Status.SUCCESS, completion.status(), "seed " + seed);
        assertEquals(want.length, completion.byteLength(), "seed " + seed);
        long at = completion.wrId() * 16_384;
        assertEquals(
            -1,
            MemorySegment.mismatch(
                serverLocalMemory,
                at,
                at + want.length,
                MemorySegment.ofArray(want),
                0,
                want.length),
            "seed " + seed);
        received++;
        assertTrue(responder.postReceive(completion.wrId(), serverLocal, at, 16_384));
      }
      assertTrue(++steps < STEPS_MAX, "stuck, seed " + seed);
    }
    assertTrue(refused > 0 || !fixture.hasThreads(), "the ring was never full; seed " + seed);
    assertEquals(
        0, atClient.all.stream().filter(c -> c.opcode() == Opcode.SEND).count(), "unsignaled");
  }

  private byte[] message(Random random) {
    int longest = Math.min(client.messageBytesMax(), 16_384);
    byte[] message =
        new byte[random.nextInt(8) == 0 ? random.nextInt(longest + 1) : random.nextInt(200)];
    random.nextBytes(message);
    return message;
  }

  @Test
  void takes256MessagesBeforeAReceiveIsPosted() {
    connect();
    for (int i = 0; i < 256; i++) {
      clientMemory.set(ValueLayout.JAVA_LONG, 64L * i, i);
      assertTrue(
          requester.post(Work.send().id(i).local(clientRegion, 64L * i, 64)), "message " + i);
    }
    steps(200);
    assertTrue(atServer.all.isEmpty());
    for (int i = 0; i < 256; i++) {
      assertTrue(responder.postReceive(i, serverLocal, 64L * i, 64));
    }
    until(() -> atServer.all.size() == 256);
    for (int i = 0; i < 256; i++) {
      assertEquals(
          new Recorder.Completion(i, Opcode.RECEIVE, Status.SUCCESS, 64, 0), atServer.all.get(i));
      assertEquals(i, serverLocalMemory.get(ValueLayout.JAVA_LONG, 64L * i));
    }
  }

  @Test
  void aMessageLongerThanTheBufferIsALengthErrorAndWritesNothingPastIt() {
    connect();
    clientMemory.fill((byte) 7);
    responder.postReceive(1, serverLocal, 0, 16);
    requester.post(send(2, 24));
    until(() -> atServer.has(Opcode.RECEIVE));
    assertEquals(Status.LENGTH, atServer.first(Opcode.RECEIVE).status());
    assertEquals(0, serverLocalMemory.get(ValueLayout.JAVA_LONG, 16));
  }

  @Test
  void aMessageOverTheLimitIsRefused() {
    connect();
    assertThrows(
        IllegalArgumentException.class,
        () -> requester.post(send(1, client.messageBytesMax() + 1)));
  }

  @Test
  void bothEndsSend() {
    connect();
    assertTrue(requester.postReceive(1, clientRegion, 0, 64));
    assertTrue(responder.postReceive(2, serverLocal, 0, 64));
    clientMemory.set(ValueLayout.JAVA_LONG, 128, 11);
    serverLocalMemory.set(ValueLayout.JAVA_LONG, 128, 22);
    assertTrue(requester.post(Work.send().id(3).local(clientRegion, 128, 8).signaled()));
    assertTrue(responder.post(Work.send().id(4).local(serverLocal, 128, 8).signaled()));
    until(() -> atClient.all.size() == 3 && atServer.all.size() == 2);
    assertEquals(
        new Recorder.Completion(3, Opcode.SEND, Status.SUCCESS, 8, 0), atClient.first(Opcode.SEND));
    assertEquals(22, clientMemory.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(11, serverLocalMemory.get(ValueLayout.JAVA_LONG, 0));
  }

  // One-sided work.

  @Test
  void readsAndWritesAnyPlaceAndLength() {
    long seed = seed();
    Random random = new Random(seed);
    connect();
    DeviceFixture.ServerMemory memory = fixture.serverMemory(10_000);
    MemoryRegion region =
        server.register(
            memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
    byte[] model = new byte[10_000];
    for (int i = 0; i < 400; i++) {
      int length = random.nextInt(3) == 0 ? random.nextInt(9000) : random.nextInt(80);
      int remote = random.nextInt(10_000 - length + 1);
      int local = random.nextInt(1000);
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      MemorySegment.copy(bytes, 0, clientMemory, ValueLayout.JAVA_BYTE, local, length);
      assertTrue(
          requester.post(
              Work.write()
                  .id(2L * i)
                  .local(clientRegion, local, length)
                  .remote(region.remoteKey(), remote)
                  .signaled()));
      clientCompletes(2L * i, Opcode.WRITE, Status.SUCCESS);
      System.arraycopy(bytes, 0, model, remote, length);
      assertEquals(-1, memory.segment().mismatch(MemorySegment.ofArray(model)), "seed " + seed);
      int readLength = random.nextInt(9000);
      int readRemote = random.nextInt(10_000 - readLength + 1);
      long readLocal = 20_000 + random.nextInt(64);
      assertTrue(
          requester.post(
              Work.read()
                  .id(2L * i + 1)
                  .local(clientRegion, readLocal, readLength)
                  .remote(region.remoteKey(), readRemote)
                  .signaled()));
      clientCompletes(2L * i + 1, Opcode.READ, Status.SUCCESS);
      assertEquals(readLength, atClient.last().byteLength());
      assertEquals(
          -1,
          MemorySegment.mismatch(
              clientMemory,
              readLocal,
              readLocal + readLength,
              MemorySegment.ofArray(model),
              readRemote,
              readRemote + readLength),
          "seed " + seed);
    }
  }

  @Test
  void aSendTellsOfTheWritesBeforeIt() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_WRITE);
    for (int i = 1; i <= 300; i++) {
      clientMemory.asSlice(0, 1000).fill((byte) i);
      requester.post(Work.write().id(i).local(clientRegion, 0, 1000).remote(region.remoteKey(), 0));
      requester.post(Work.send().id(i).local(clientRegion, 0, 8).signaled());
      responder.postReceive(i, serverLocal, 0, 8);
      int expected = i;
      until(() -> atServer.of(Opcode.RECEIVE).size() == expected);
      for (int at = 0; at < 1000; at++) {
        assertEquals((byte) i, region.memory().get(ValueLayout.JAVA_BYTE, at));
      }
      until(() -> atClient.of(Opcode.SEND).size() == expected);
    }
  }

  @Test
  void writeImmTellsOfItself() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_WRITE);
    clientMemory.fill((byte) 9);
    responder.postReceive(71, serverLocal, 0, 64);
    assertTrue(
        requester.post(
            Work.writeImm()
                .id(1)
                .local(clientRegion, 0, 24)
                .remote(region.remoteKey(), 8)
                .imm(0xcafe_babe)
                .signaled()));
    until(() -> atServer.has(Opcode.RECEIVE_IMM) && atClient.has(Opcode.WRITE_IMM));
    assertEquals(
        new Recorder.Completion(71, Opcode.RECEIVE_IMM, Status.SUCCESS, 24, 0xcafe_babe),
        atServer.last());
    assertEquals(0x0909_0909_0909_0909L, region.memory().get(ValueLayout.JAVA_LONG, 24));
    assertEquals(0, region.memory().get(ValueLayout.JAVA_LONG, 32));
    assertEquals(Status.SUCCESS, atClient.first(Opcode.WRITE_IMM).status());
  }

  /** Every device stores and swaps single words. */
  @Test
  void wordsAreStoredAndSwapped() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_WRITE | Access.REMOTE_ATOMIC);
    long key = region.remoteKey();
    assertTrue(requester.post(Work.atomicWrite().id(1).remote(key, 8).value(7).signaled()));
    assertTrue(
        requester.post(
            Work.compareAndSwap()
                .id(2)
                .local(clientRegion, 0, Long.BYTES)
                .remote(key, 8)
                .expected(7)
                .value(9)
                .signaled()));
    assertTrue(
        requester.post(
            Work.compareAndSwap()
                .id(3)
                .local(clientRegion, 8, Long.BYTES)
                .remote(key, 8)
                .expected(7)
                .value(11)
                .signaled()));
    until(() -> atClient.of(Opcode.COMPARE_AND_SWAP).size() == 2);
    assertEquals(Status.SUCCESS, atClient.first(Opcode.ATOMIC_WRITE).status());
    assertEquals(9, region.memory().get(ValueLayout.JAVA_LONG, 8));
    assertEquals(7, clientMemory.get(ValueLayout.JAVA_LONG, 0));
    assertEquals(9, clientMemory.get(ValueLayout.JAVA_LONG, 8), "it was no 7, and stayed");
    requester.post(Work.atomicWrite().id(4).remote(key, 12).value(42));
    until(() -> atClient.of(Opcode.ATOMIC_WRITE).size() == 2);
    assertEquals(Status.REMOTE_ACCESS, atClient.last().status(), "a word is 8-aligned");
    assertEquals(9, region.memory().get(ValueLayout.JAVA_LONG, 8));
  }

  /** Memory that has nothing to do for a flush. */
  private record UnflushedMemory(MemorySegment segment, Backing backing)
      implements PersistentMemory {
    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      throw new AssertionError("a device stores for itself");
    }

    @Override
    public void putLongRelease(long offset, long value) {
      throw new AssertionError("a device stores for itself");
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      throw new AssertionError("a device swaps for itself");
    }

    @Override
    public void flush(long offset, long length) {}

    @Override
    public void drain() {}

    @Override
    public Survives survives() {
      return Survives.PROCESS_CRASH;
    }

    @Override
    public boolean visibleBeforeDurable() {
      return false;
    }

    @Override
    public void close() {}
  }

  /**
   * A device reports operations that it does not support, and such an operation completes if it is
   * posted nevertheless.
   */
  @Test
  void flushesOrSaysThatItDoesNot() {
    connect();
    DeviceFixture.ServerMemory memory = fixture.serverMemory(4096);
    MemoryRegion region =
        server.register(
            new UnflushedMemory(memory.segment(), memory.backing()),
            Access.REMOTE_READ | Access.REMOTE_WRITE);
    assertTrue(requester.post(Work.flush().id(1).remote(region.remoteKey(), 0, 64).signaled()));
    until(() -> atClient.has(Opcode.FLUSH));
    assertEquals(
        client.flushes() ? Status.SUCCESS : Status.UNSUPPORTED,
        atClient.first(Opcode.FLUSH).status());
    requester.post(Work.atomicWrite().id(2).remote(region.remoteKey(), 8).value(7).signaled());
    until(() -> atClient.has(Opcode.ATOMIC_WRITE));
    assertEquals(Status.SUCCESS, atClient.last().status(), "the connection goes on");
  }

  @Test
  void readsExecuteInOrder() throws Exception {
    assumeTrue(fixture.hasThreads());
    connect();
    MemoryRegion region = register(8192, Access.REMOTE_READ);
    MemorySegment shared = region.memory();
    // The writer stores b before a; so who reads a, then b, never finds b older than a.
    concurrently(
        i -> {
          QueueLayout.WORD.setRelease(shared, 4096L, i);
          QueueLayout.WORD.setRelease(shared, 0L, i);
        },
        round -> {
          requester.post(Work.read().id(1).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
          requester.post(
              Work.read()
                  .id(2)
                  .local(clientRegion, 8, 8)
                  .remote(region.remoteKey(), 4096)
                  .signaled());
          clientCompletes(2, Opcode.READ, Status.SUCCESS);
          long a = clientMemory.get(QueueLayout.LONG, 0);
          long b = clientMemory.get(QueueLayout.LONG, 8);
          assertTrue(b >= a, () -> "read " + a + ", then the older " + b);
        });
  }

  @Test
  void wordsAreNotTorn() throws Exception {
    assumeTrue(fixture.hasThreads());
    connect();
    MemoryRegion region = register(8192, Access.REMOTE_READ);
    MemorySegment shared = region.memory();
    Random random = new Random(3);
    concurrently(
        i -> {
          long word = (i & 0xff) * 0x0101_0101_0101_0101L;
          for (long at = 0; at < 2048; at += 8) {
            QueueLayout.WORD.setOpaque(shared, at, word);
          }
        },
        round -> {
          int skew = random.nextInt(8);
          int length = 8 + random.nextInt(2000);
          requester.post(
              Work.read()
                  .id(1)
                  .local(clientRegion, skew, length)
                  .remote(region.remoteKey(), skew)
                  .signaled());
          clientCompletes(1, Opcode.READ, Status.SUCCESS);
          for (long at = skew + 7 & ~7; at + 8 <= skew + length; at += 8) {
            long word = clientMemory.get(QueueLayout.LONG, at);
            assertEquals((word & 0xff) * 0x0101_0101_0101_0101L, word, "torn word");
          }
        });
  }

  @FunctionalInterface
  private interface Round {
    void run(long round);
  }

  /**
   * Runs {@code writer} over and over in a thread while this one runs {@code reader} for a bounded
   * number of rounds.
   */
  private static void concurrently(Round writer, Round reader) throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(
            () -> {
              for (long i = 1; !stop.get(); i++) {
                writer.run(i);
              }
            },
            THREADS);
    try {
      for (int round = 0; round < 20_000; round++) {
        reader.run(round);
      }
    } finally {
      stop.set(true);
    }
    writing.get(10, TimeUnit.SECONDS);
  }

  @Test
  void whatIsNotAllowedIsARemoteAccessErrorAndDisturbsNothing() {
    connect();
    MemoryRegion readable = register(4096, Access.REMOTE_READ);
    MemoryRegion writable = register(4096, Access.REMOTE_WRITE);
    readable.memory().fill((byte) 1);
    writable.memory().fill((byte) 1);
    clientMemory.fill((byte) 2);
    long[][] reads = {
      {writable.remoteKey(), 0, 8},
      {readable.remoteKey(), 4089, 8},
      {readable.remoteKey(), -8, 8},
      {readable.remoteKey(), 4096, 1},
      {readable.remoteKey(), Long.MAX_VALUE, 8},
      {readable.remoteKey(), Long.MIN_VALUE, 8},
      {0, 0, 8},
      {-1, 0, 8},
      {0x7fff_ffff_0000L, 0, 8},
      {readable.remoteKey() + (1 << 16), 0, 8},
      {readable.remoteKey() + 1000, 0, 8},
    };
    long wrId = 1;
    for (long[] read : reads) {
      assertTrue(
          requester.post(
              Work.read().id(wrId).local(clientRegion, 0, (int) read[2]).remote(read[0], read[1])));
      clientCompletes(wrId++, Opcode.READ, Status.REMOTE_ACCESS);
    }
    long[][] writes = {
      {readable.remoteKey(), 0, 8},
      {writable.remoteKey(), 4089, 8},
      {writable.remoteKey(), -8, 8},
      {0, 0, 8},
      {serverLocal.remoteKey(), 0, 8},
    };
    for (long[] write : writes) {
      assertTrue(
          requester.post(
              Work.write()
                  .id(wrId)
                  .local(clientRegion, 0, (int) write[2])
                  .remote(write[0], write[1])));
      clientCompletes(wrId++, Opcode.WRITE, Status.REMOTE_ACCESS);
    }
    for (long at = 0; at < 4096; at += 8) {
      assertEquals(0x0101_0101_0101_0101L, writable.memory().get(ValueLayout.JAVA_LONG, at));
      assertEquals(0x0101_0101_0101_0101L, readable.memory().get(ValueLayout.JAVA_LONG, at));
    }
  }

  @Test
  void aCallersMistakeWithItsOwnMemoryThrows() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    long end = clientMemory.byteSize();
    assertThrows(
        IndexOutOfBoundsException.class,
        () ->
            requester.post(
                Work.read().id(1).local(clientRegion, end - 7, 8).remote(region.remoteKey(), 0)));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            requester.post(
                Work.read().id(1).local(serverLocal, 0, 8).remote(region.remoteKey(), 0)));
  }

  @Test
  void whatIsNoWorkIsAsserted() {
    connect();
    long key = register(4096, Access.REMOTE_WRITE).remoteKey();
    assertThrows(AssertionError.class, () -> requester.post(Work.read().remote(key, 0)));
    assertThrows(AssertionError.class, () -> requester.post(Work.atomicWrite().remote(key, 0, 16)));
    assertThrows(AssertionError.class, () -> responder.post(Work.write().remote(key, 0)));
  }

  @Test
  void aRevokedKeyIsRefusedAndNeverComesBack() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ | Access.REMOTE_WRITE);
    long key = region.remoteKey();
    requester.post(read(1, key, 0, 8));
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    server.deregister(region);
    steps(10);
    requester.post(read(2, key, 0, 8));
    clientCompletes(2, Opcode.READ, Status.REMOTE_ACCESS);
    clientMemory.fill((byte) 6);
    requester.post(write(3, key, 0, 8));
    clientCompletes(3, Opcode.WRITE, Status.REMOTE_ACCESS);
    assertEquals(0, region.memory().get(ValueLayout.JAVA_LONG, 0), "nothing was written");
    for (int i = 0; i < 20; i++) {
      MemoryRegion other = register(4096, Access.REMOTE_READ | Access.REMOTE_WRITE);
      assertNotEquals(key, other.remoteKey());
      requester.post(read(4, other.remoteKey(), 0, 8));
      clientCompletes(4, Opcode.READ, Status.SUCCESS);
      server.deregister(other);
    }
  }

  @Test
  void aPeerWritesWhereItWasGranted() {
    connect();
    boolean limits = server.limitsWrites();
    MemoryRegion region = register(4096, Access.REMOTE_READ | (limits ? 0 : Access.REMOTE_WRITE));
    long key = responder.grant(region, 512, 64);
    clientMemory.fill((byte) 4);
    requester.post(write(1, key, 512, 64));
    clientCompletes(1, Opcode.WRITE, Status.SUCCESS);
    assertEquals(0x0404_0404_0404_0404L, region.memory().get(ValueLayout.JAVA_LONG, 568));
    int beyond = limits ? Status.REMOTE_ACCESS : Status.SUCCESS;
    requester.post(write(2, key, 520, 64));
    clientCompletes(2, Opcode.WRITE, beyond);
    requester.post(write(3, region.remoteKey(), 512, 64));
    clientCompletes(3, Opcode.WRITE, beyond);
    responder.revoke(key);
    responder.revoke(key);
    requester.post(write(4, key, 512, 64));
    clientCompletes(4, Opcode.WRITE, beyond);
    requester.post(read(5, region.remoteKey(), 0, 64));
    clientCompletes(5, Opcode.READ, Status.SUCCESS);
  }

  @Test
  void aReadInTheCallIsAllOrNothingAndReportsNothing() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    MemoryRegion writable = register(4096, Access.REMOTE_WRITE);
    Random random = new Random(7);
    byte[] bytes = new byte[4096];
    random.nextBytes(bytes);
    MemorySegment.copy(bytes, 0, region.memory(), ValueLayout.JAVA_BYTE, 0, bytes.length);
    long key = region.remoteKey();
    requester.post(read(1, key, 0, 8));
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    int completions = atClient.all.size();
    int done = 0;
    for (int i = 0; i < 300; i++) {
      int length = 8 * random.nextInt(1, 40);
      int from = 8 * random.nextInt((4096 - length) / 8 + 1);
      int to = 8 * random.nextInt(100);
      clientMemory.fill((byte) 0x33);
      if (requester.readNow(Work.read().local(clientRegion, to, length).remote(key, from))) {
        done++;
        assertEquals(
            -1,
            clientMemory
                .asSlice(to, length)
                .mismatch(MemorySegment.ofArray(bytes).asSlice(from, length)));
        assertEquals(0x33, clientMemory.get(ValueLayout.JAVA_BYTE, to + length));
        assertTrue(to == 0 || clientMemory.get(ValueLayout.JAVA_BYTE, to - 1) == 0x33);
      }
    }
    assertTrue(done == 300 || !readsInTheCall(), done + " of 300");
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(key, 4096)),
        "out of range");
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(key, -8)),
        "before the beginning");
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 16).remote(key, 4088)),
        "over the end");
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(key + 1, 0)),
        "another key");
    requester.post(write(2, writable.remoteKey(), 0, 8));
    clientCompletes(2, Opcode.WRITE, Status.SUCCESS);
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(writable.remoteKey(), 0)),
        "not allowed to READ");
    steps(20);
    assertEquals(completions + 1, atClient.all.size(), "READs in the call complete nowhere");
    server.deregister(region);
    steps(10);
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(key, 0)),
        "the key was revoked");
  }

  @Test
  void noReadInTheCallAfterThePeerClosed() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    requester.post(read(1, region.remoteKey(), 0, 8));
    clientCompletes(1, Opcode.READ, Status.SUCCESS);
    responder.close();
    steps(10);
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(region.remoteKey(), 0)));
    requester.close();
    assertTrue(
        !requester.readNow(Work.read().local(clientRegion, 0, 8).remote(region.remoteKey(), 0)));
  }

  /** A device has read all that it needs of a work request when its post returns. */
  @Test
  void whatWasPostedMayBeChangedAtOnce() {
    connect();
    // More than goes out at once where bytes go through a socket.
    int large = 8 << 20;
    MemorySegment source = fixture.clientMemory(large);
    MemoryRegion sources = client.register(source, Backing.none(large), Access.LOCAL);
    source.fill((byte) 3);
    int access = Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;
    MemoryRegion region = register(large + 64, access);
    long key = region.remoteKey();
    region.memory().set(ValueLayout.JAVA_LONG, 0, 11);
    for (int i = 0; i < 2; i++) {
      responder.postReceive(i, serverLocal, 64L * i, 64);
    }
    atClient.all.clear();
    Work work = Work.write().local(sources, 0, large).remote(key, 64);
    postAndSpoil(work, 1);
    postAndSpoil(work.set(Work.send().local(clientRegion, 0, 24)), 2);
    postAndSpoil(work.set(Work.writeImm().local(clientRegion, 0, 40).remote(key, 8).imm(77)), 3);
    postAndSpoil(work.set(Work.read().local(clientRegion, 64, 8).remote(key, 0)), 4);
    postAndSpoil(work.set(Work.atomicWrite().remote(key, 8).value(22)), 5);
    Work swap = Work.compareAndSwap().local(clientRegion, 72, 8).remote(key, 8);
    postAndSpoil(work.set(swap.expected(22).value(33)), 6);
    until(() -> atClient.all.size() == 6 && atServer.all.size() == 2);
    int[] opcodes = {
      Opcode.WRITE,
      Opcode.SEND,
      Opcode.WRITE_IMM,
      Opcode.READ,
      Opcode.ATOMIC_WRITE,
      Opcode.COMPARE_AND_SWAP
    };
    int[] lengths = {large, 24, 40, 8, 8, 8};
    for (int i = 0; i < opcodes.length; i++) {
      assertEquals(
          new Recorder.Completion(i + 1, opcodes[i], Status.SUCCESS, lengths[i], 0),
          atClient.all.get(i));
    }
    assertEquals(
        new Recorder.Completion(0, Opcode.RECEIVE, Status.SUCCESS, 24, 0), atServer.all.get(0));
    assertEquals(
        new Recorder.Completion(1, Opcode.RECEIVE_IMM, Status.SUCCESS, 40, 77),
        atServer.all.get(1));
    assertEquals(11, clientMemory.get(ValueLayout.JAVA_LONG, 64), "what was READ");
    assertEquals(22, clientMemory.get(ValueLayout.JAVA_LONG, 72), "what was swapped");
    assertEquals(33, region.memory().get(ValueLayout.JAVA_LONG, 8));
    assertEquals(
        0x0303_0303_0303_0303L, region.memory().get(ValueLayout.JAVA_LONG, large + 56), "the last");
  }

  private void postAndSpoil(Work work, long wrId) {
    work.id(wrId).signaled();
    until(() -> requester.post(work));
    work.set(Work.flush().id(-1).remote(-1, -1, -1).imm(-1).expected(-1).value(-1));
  }

  @Test
  void unsignaledWorkReportsOnlyFailures() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    requester.post(Work.read().id(1).local(clientRegion, 0, 8).remote(region.remoteKey(), 0));
    requester.post(Work.read().id(2).local(clientRegion, 0, 8).remote(region.remoteKey(), 4096));
    requester.post(read(3, region.remoteKey(), 0, 8));
    until(() -> atClient.all.size() >= 3);
    steps(50);
    assertEquals(3, atClient.all.size(), "CONNECT and two READs");
    assertEquals(Status.REMOTE_ACCESS, atClient.all.get(1).status());
    assertEquals(2, atClient.all.get(1).wrId());
    assertEquals(3, atClient.all.get(2).wrId());
  }

  @Test
  void completionsComeInPostOrderAndAFullQueueRefuses() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    int posted = 0;
    while (posted < 100_000 && requester.post(read(posted, region.remoteKey(), 0, 8))) {
      posted++;
    }
    assertTrue(posted >= 64 && posted < 100_000, "posted " + posted);
    int expected = posted;
    until(() -> atClient.of(Opcode.READ).size() == expected);
    for (int i = 0; i < posted; i++) {
      assertEquals(i, atClient.of(Opcode.READ).get(i).wrId());
      if (i > 1000) {
        break;
      }
    }
    assertTrue(requester.post(read(posted, region.remoteKey(), 0, 8)));
  }

  @Test
  void pollKeepsToItsLimit() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    for (int i = 0; i < 10; i++) {
      requester.post(read(i, region.remoteKey(), 0, 8));
    }
    steps(0);
    atClient.all.clear();
    for (int i = 0; i < STEPS_MAX && atClient.all.size() < 10; i++) {
      int before = atClient.all.size();
      int reported = requester.poll(atClient, 3);
      assertTrue(reported <= 3);
      assertEquals(before + reported, atClient.all.size());
      fixture.step();
    }
    assertEquals(10, atClient.all.size());
  }

  @Test
  void theHandlerMayPost() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    int[] hops = new int[1];
    CompletionHandler chain =
        (wrId, opcode, status, byteLength, imm) -> {
          if (++hops[0] < 5) {
            assertTrue(requester.post(read(wrId + 1, region.remoteKey(), 0, 8)));
          }
        };
    assertTrue(
        requester.post(
            Work.read().local(clientRegion, 0, 8).remote(region.remoteKey(), 0).signaled()));
    for (int i = 0; i < STEPS_MAX && hops[0] < 5; i++) {
      requester.poll(chain, 4);
      fixture.step();
    }
    assertEquals(5, hops[0]);
  }

  // The end of a connection.

  @Test
  void whatTheServerClosedTakesNoEffectAnyMore() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ | Access.REMOTE_WRITE);
    requester.postReceive(1, clientRegion, 0, 64);
    requester.postReceive(2, clientRegion, 64, 64);
    responder.close();
    responder = null;
    clientMemory.fill((byte) 5);
    long before = region.memory().get(ValueLayout.JAVA_LONG, 0);
    requester.post(write(3, region.remoteKey(), 0, 8));
    until(() -> atClient.has(Opcode.WRITE));
    assertNotEquals(Status.SUCCESS, atClient.first(Opcode.WRITE).status());
    assertEquals(before, region.memory().get(ValueLayout.JAVA_LONG, 0));
    until(() -> atClient.has(Opcode.DISCONNECT));
    assertEquals(Opcode.DISCONNECT, atClient.last().opcode(), "after all that was outstanding");
    assertEquals(
        2, atClient.of(Opcode.RECEIVE).stream().filter(c -> c.status() == Status.FLUSHED).count());
    requester.post(send(4, 8));
    requester.postReceive(5, clientRegion, 0, 8);
    until(() -> atClient.has(Opcode.SEND) && atClient.of(Opcode.RECEIVE).size() == 3);
    assertNotEquals(Status.SUCCESS, atClient.first(Opcode.SEND).status());
    steps(200);
    assertEquals(1, atClient.of(Opcode.DISCONNECT).size(), "reported once");
  }

  @Test
  void theServerLearnsThatTheClientClosed() {
    connect();
    responder.postReceive(1, serverLocal, 0, 64);
    responder.postReceive(2, serverLocal, 64, 64);
    requester.post(Work.send().id(3).local(clientRegion, 0, 8).signaled());
    clientCompletes(3, Opcode.SEND, Status.SUCCESS);
    until(() -> atServer.has(Opcode.RECEIVE));
    requester.close();
    requester = null;
    until(() -> atServer.has(Opcode.DISCONNECT));
    assertEquals(3, atServer.all.size());
    assertEquals(
        new Recorder.Completion(1, Opcode.RECEIVE, Status.SUCCESS, 8, 0),
        atServer.all.get(0),
        "sent before the end");
    assertEquals(
        new Recorder.Completion(2, Opcode.RECEIVE, Status.FLUSHED, 0, 0), atServer.all.get(1));
    responder.post(Work.send().id(4).local(serverLocal, 0, 8));
    until(() -> atServer.has(Opcode.SEND));
    assertNotEquals(Status.SUCCESS, atServer.first(Opcode.SEND).status());
  }

  @Test
  void whatAClosedRequesterHadPostedTakesNoEffect() {
    connect();
    for (int i = 0; i < 5; i++) {
      responder.postReceive(i, serverLocal, 64L * i, 64);
      assertTrue(requester.post(Work.send().id(i).local(clientRegion, 0, 8).signaled()));
    }
    steps(0);
    requester.close();
    long claimed = requester.claims().claimed();
    requester = null;
    int[] effects = new int[1];
    for (int i = 0; i < STEPS_MAX && !atServer.has(Opcode.DISCONNECT); i++) {
      responder.poll(acting(responder, effects), 1);
      fixture.step();
    }
    assertEquals(6, atServer.all.size(), "each receive, and the end");
    assertTrue(effects[0] == 0 || claimed == Long.MAX_VALUE, effects[0] + " took effect");
    responder.post(Work.send().id(1).local(serverLocal, 0, 8));
    until(() -> atServer.has(Opcode.SEND));
    assertNotEquals(Status.SUCCESS, atServer.first(Opcode.SEND).status());
  }

  /** Acts on messages as a server does: an effect only after a claim. */
  private CompletionHandler acting(QueuePair end, int[] effects) {
    return (wrId, opcode, status, byteLength, imm) -> {
      atServer.onCompletion(wrId, opcode, status, byteLength, imm);
      if (opcode == Opcode.RECEIVE && status == Status.SUCCESS && end.claims().claim()) {
        effects[0]++;
        end.claims().finish();
      }
    };
  }

  @Test
  void whatWasNotClaimedBeforeTheRequesterWithdrewNeverTakesEffect() {
    connect();
    int[] effects = new int[1];
    CompletionHandler acting = acting(responder, effects);
    for (int i = 0; i < 8; i++) {
      responder.postReceive(i, serverLocal, 64L * i, 64);
    }
    for (int i = 0; i < 3; i++) {
      assertEquals(i, requester.claims().sent());
      assertTrue(requester.post(Work.send().id(i).local(clientRegion, 0, 8).signaled()));
    }
    for (int i = 0; i < STEPS_MAX && effects[0] < 2; i++) {
      responder.poll(acting, 1);
      fixture.step();
    }
    requester.claims().withdraw();
    requester.claims().withdraw();
    long claimed = requester.claims().claimed();
    assertTrue(claimed == 2 || claimed == Long.MAX_VALUE, "claimed " + claimed);
    assertTrue(requester.claims().finished() == 2 || claimed == Long.MAX_VALUE);
    assertTrue(requester.post(send(9, 8)));
    until(() -> atClient.of(Opcode.SEND).stream().anyMatch(send -> send.wrId() == 9));
    assertNotEquals(
        Status.SUCCESS,
        atClient.of(Opcode.SEND).stream()
            .filter(send -> send.wrId() == 9)
            .findFirst()
            .orElseThrow()
            .status());
    for (int i = 0; i < STEPS_MAX && !atServer.has(Opcode.DISCONNECT); i++) {
      responder.poll(acting, 1);
      fixture.step();
    }
    assertTrue(effects[0] == 2 || claimed == Long.MAX_VALUE, effects[0] + " took effect");
    assertTrue(!responder.claims().claim());
    requester.close();
    // A device that has to ask the other end knew nothing at first.
    assertTrue(claimed == requester.claims().claimed() || claimed == Long.MAX_VALUE);
    requester = null;
  }

  @Test
  void theAnswerToWhatWasClaimedStillArrives() {
    connect();
    responder.postReceive(1, serverLocal, 0, 64);
    requester.postReceive(2, clientRegion, 64, 64);
    requester.post(send(3, 8));
    until(() -> atServer.has(Opcode.RECEIVE));
    assertTrue(responder.claims().claim());
    requester.claims().withdraw();
    assertTrue(requester.claims().claimed() >= 1);
    assertEquals(0, requester.claims().finished());
    serverLocalMemory.set(ValueLayout.JAVA_LONG, 128, 77);
    responder.post(Work.send().id(4).local(serverLocal, 128, 8));
    responder.claims().finish();
    until(() -> atClient.has(Opcode.RECEIVE));
    assertEquals(Status.SUCCESS, atClient.first(Opcode.RECEIVE).status());
    assertEquals(77, clientMemory.get(ValueLayout.JAVA_LONG, 64));
    until(
        () -> requester.claims().finished() == 1 || requester.claims().claimed() == Long.MAX_VALUE);
  }

  /** Both ends at once: whatever took effect was claimed, as the requester saw it. */
  @Test
  void withdrawingAndClaimingAtOnceNeverMissEachOther() throws Exception {
    assumeTrue(fixture.hasThreads());
    long seed = seed();
    Random random = new Random(seed);
    int rounds = Integer.getInteger("erda.rounds", 400);
    for (int round = 0; round < rounds; round++) {
      atClient.all.clear();
      connect();
      QueuePair there = responder;
      QueuePair here = requester;
      responder = null;
      requester = null;
      there.postReceive(0, serverLocal, 0, 64);
      AtomicBoolean ready = new AtomicBoolean();
      CompletableFuture<Integer> effects =
          CompletableFuture.supplyAsync(() -> actOnce(there, ready), THREADS);
      while (!ready.get()) {
        Thread.onSpinWait();
      }
      here.post(Work.send().local(clientRegion, 0, 8));
      for (int spins = random.nextInt(400); spins > 0; spins--) {
        Thread.onSpinWait();
      }
      here.claims().withdraw();
      int done = effects.get(20, TimeUnit.SECONDS);
      assertTrue(done <= here.claims().claimed(), "an effect that was not claimed; seed " + seed);
      here.close();
      there.close();
    }
  }

  /** Returns how many messages took effect. */
  private static int actOnce(QueuePair end, AtomicBoolean ready) {
    int[] ends = new int[2];
    ready.set(true);
    while (ends[1] == 0) {
      end.poll(
          (wrId, opcode, status, byteLength, imm) -> {
            if (opcode == Opcode.RECEIVE && status == Status.SUCCESS && end.claims().claim()) {
              ends[0]++;
            }
            ends[1]++;
          },
          1);
    }
    return ends[0];
  }

  @Test
  void closingTwiceIsHarmlessAndPostingAfterItThrows() {
    connect();
    requester.close();
    requester.close();
    assertEquals(0, requester.poll(atClient, 10));
    assertThrows(IllegalStateException.class, () -> requester.post(send(1, 8)));
    assertThrows(IllegalStateException.class, () -> requester.postReceive(1, clientRegion, 0, 8));
    requester = null;
  }

  @Test
  void aHandlerMayCloseItsQueuePair() {
    connect();
    for (int i = 0; i < 5; i++) {
      responder.postReceive(i, serverLocal, 0, 64);
      requester.post(send(i, 8));
    }
    int[] seen = new int[1];
    QueuePair closing = responder;
    responder = null;
    CompletionHandler closer =
        (wrId, opcode, status, byteLength, imm) -> {
          seen[0]++;
          closing.close();
        };
    for (int i = 0; i < STEPS_MAX && seen[0] == 0; i++) {
      closing.poll(closer, 10);
      requester.poll(atClient, 10);
      fixture.step();
    }
    closing.poll(closer, 10);
    assertEquals(1, seen[0]);
    until(() -> atClient.has(Opcode.DISCONNECT));
  }

  @Test
  void statisticsTellWhatWasMoved() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ | Access.REMOTE_WRITE);
    responder.postReceive(1, serverLocal, 0, 64);
    requester.post(Work.read().id(1).local(clientRegion, 0, 100).remote(region.remoteKey(), 0));
    requester.post(Work.write().id(2).local(clientRegion, 0, 60).remote(region.remoteKey(), 0));
    requester.post(Work.write().id(3).local(clientRegion, 0, 4).remote(region.remoteKey(), 0));
    requester.post(Work.send().id(4).local(clientRegion, 0, 8).signaled());
    until(() -> atClient.has(Opcode.SEND) && atServer.has(Opcode.RECEIVE));
    checkStatistics();
    requester.close();
    until(() -> atServer.has(Opcode.DISCONNECT));
    responder.close();
    requester = null;
    responder = null;
    checkStatistics();
  }

  private void checkStatistics() {
    DeviceStatistics here = client.statistics();
    assertEquals(1, here.reads());
    assertEquals(100, here.bytesRead());
    assertEquals(2, here.writes());
    assertEquals(64, here.bytesWritten());
    assertEquals(1, here.sends());
    DeviceStatistics there = server.statistics();
    assertEquals(1, there.receives());
    assertEquals(64, there.bytesWritten());
    assertEquals(100, there.bytesRead());
  }

  // Sleeping.

  @Test
  void armRefusesWhatIsThereAlready() {
    assumeTrue(fixture.hasThreads());
    connect();
    responder.postReceive(1, serverLocal, 0, 64);
    assertTrue(responder.arm());
    // Nothing is there; but a sleep may end early.
    responder.await(1_000_000);
    requester.post(send(1, 8));
    for (int i = 0; i < STEPS_MAX && responder.arm(); i++) {
      requester.poll(atClient, 16);
      fixture.step();
    }
    assertTrue(!responder.arm());
    steps(1);
    until(() -> atServer.has(Opcode.RECEIVE));
  }

  @Test
  void wakeupEndsASleepNowOrTheNext() throws Exception {
    assumeTrue(fixture.hasThreads());
    server.wakeup();
    assertTrue(server.await(TimeUnit.SECONDS.toNanos(30)));
    CompletableFuture<Boolean> sleeping =
        CompletableFuture.supplyAsync(() -> server.await(TimeUnit.SECONDS.toNanos(30)), THREADS);
    LockSupport.parkNanos(5_000_000);
    server.wakeup();
    assertTrue(sleeping.get(20, TimeUnit.SECONDS));
  }

  @Test
  void aSleepingServerHearsOfARequest() throws Exception {
    assumeTrue(fixture.hasThreads());
    CompletableFuture<ConnectionRequest> request =
        CompletableFuture.supplyAsync(
            () -> {
              for (int i = 0; i < 1000; i++) {
                ConnectionRequest next = listener.poll();
                if (next != null) {
                  return next;
                }
                server.await(TimeUnit.SECONDS.toNanos(20));
              }
              return null;
            },
            THREADS);
    LockSupport.parkNanos(3_000_000);
    requester = client.connect(fixture.address(), NOTHING, PATIENCE);
    until(request::isDone);
    ConnectionRequest asked = request.get(20, TimeUnit.SECONDS);
    assertNotNull(asked);
    responder = asked.accept(NOTHING);
    until(() -> atClient.has(Opcode.CONNECT));
  }

  @Test
  void aSleepingEndHearsOfTheOthersEnd() throws Exception {
    assumeTrue(fixture.hasThreads());
    connect();
    QueuePair sleeper = requester;
    requester = null;
    CompletableFuture<Boolean> sleeping =
        CompletableFuture.supplyAsync(
            () -> sleepUntil(client, sleeper, Opcode.DISCONNECT), THREADS);
    LockSupport.parkNanos(3_000_000);
    responder.close();
    responder = null;
    assertTrue(sleeping.get(20, TimeUnit.SECONDS));
  }

  private static boolean sleepUntil(Device device, QueuePair queuePair, int opcode) {
    Recorder recorder = new Recorder();
    for (int i = 0; i < 10_000; i++) {
      queuePair.poll(recorder, 16);
      if (recorder.has(opcode)) {
        return true;
      }
      if (queuePair.arm()) {
        device.await(TimeUnit.SECONDS.toNanos(20));
      }
    }
    return false;
  }

  /**
   * Both ends sleep at random moments while a ball goes to and fro: a wake-up that is missed leaves
   * both asleep for good, and the test runs into its bound.
   */
  @Test
  void noWakeUpIsMissed() throws Exception {
    assumeTrue(fixture.hasThreads());
    long seed = seed();
    connect();
    int rounds = Integer.getInteger("erda.rounds", 10_000);
    QueuePair there = responder;
    QueuePair here = requester;
    responder = null;
    requester = null;
    CompletableFuture<Integer> echo =
        CompletableFuture.supplyAsync(
            () -> play(server, there, serverLocal, rounds, false, new Random(seed)), THREADS);
    CompletableFuture<Integer> serve =
        CompletableFuture.supplyAsync(
            () -> play(client, here, clientRegion, rounds, true, new Random(seed + 1)), THREADS);
    assertEquals(rounds, serve.get(50, TimeUnit.SECONDS), "seed " + seed);
    assertEquals(rounds, echo.get(50, TimeUnit.SECONDS), "seed " + seed);
  }

  /** Returns how many rounds were played before a sleep was not woken. */
  private static int play(
      Device device,
      QueuePair queuePair,
      MemoryRegion region,
      int rounds,
      boolean begins,
      Random random) {
    Recorder recorder = new Recorder();
    queuePair.postReceive(0, region, 64, 8);
    if (begins) {
      queuePair.post(Work.send().local(region, 0, 8));
    }
    int played = 0;
    while (played < rounds) {
      int spins = random.nextInt(1 << random.nextInt(9));
      for (int i = 0; i < spins && recorder.all.isEmpty(); i++) {
        queuePair.poll(recorder, 4);
      }
      if (recorder.all.isEmpty() && queuePair.poll(recorder, 4) == 0 && queuePair.arm()) {
        boolean woken =
            random.nextBoolean() ? queuePair.await(10_000_000_000L) : device.await(10_000_000_000L);
        if (!woken) {
          return played;
        }
      }
      if (!recorder.all.isEmpty()) {
        if (recorder.last().opcode() != Opcode.RECEIVE
            || recorder.last().status() != Status.SUCCESS) {
          return -1;
        }
        recorder.all.clear();
        played++;
        queuePair.postReceive(0, region, 64, 8);
        if (!begins || played < rounds) {
          queuePair.post(Work.send().local(region, 0, 8));
        }
      }
    }
    return played;
  }

  /**
   * As {@link #noWakeUpIsMissed}, with several exchanges between the same two threads, so that a
   * thread between the ends is already awake for another peer.
   */
  @Test
  void noWakeUpIsMissedAmongSeveralPeers() throws Exception {
    assumeTrue(fixture.hasThreads());
    int balls = 4;
    int rounds = Integer.getInteger("erda.rounds", 10_000);
    QueuePair[] here = new QueuePair[balls];
    QueuePair[] there = new QueuePair[balls];
    for (int i = 0; i < balls; i++) {
      int before = i;
      here[i] = client.connect(fixture.address(), NOTHING, PATIENCE);
      requester = here[i];
      there[i] = nextRequest().accept(NOTHING);
      until(() -> atClient.of(Opcode.CONNECT).size() > before);
      there[i].postReceive(i, serverLocal, 64L * i, 8);
      here[i].postReceive(i, clientRegion, 64L * i, 8);
    }
    requester = null;
    CompletableFuture<Integer> echo =
        CompletableFuture.supplyAsync(
            () -> throwBack(server, there, serverLocal, rounds, rounds), THREADS);
    CompletableFuture<Integer> serve =
        CompletableFuture.supplyAsync(
            () -> {
              for (QueuePair each : here) {
                each.post(Work.send().local(clientRegion, 8, 8));
              }
              return throwBack(client, here, clientRegion, rounds, rounds - 1);
            },
            THREADS);
    assertEquals(balls * rounds, serve.get(50, TimeUnit.SECONDS));
    assertEquals(balls * rounds, echo.get(50, TimeUnit.SECONDS));
  }

  /**
   * Each queue pair has a ball, which comes {@code rounds} times and is thrown back {@code thrown}
   * times. Returns how often one came before a sleep was not woken.
   */
  private static int throwBack(
      Device device, QueuePair[] queuePairs, MemoryRegion region, int rounds, int thrown) {
    int[] came = new int[queuePairs.length];
    CompletionHandler back =
        (wrId, opcode, status, byteLength, imm) -> {
          int ball = (int) wrId;
          if (opcode == Opcode.RECEIVE && status == Status.SUCCESS && came[ball]++ < thrown) {
            queuePairs[ball].postReceive(ball, region, 64L * ball, 8);
            queuePairs[ball].post(Work.send().local(region, 8, 8));
          }
        };
    while (Arrays.stream(came).sum() < queuePairs.length * rounds) {
      boolean armed = true;
      for (QueuePair each : queuePairs) {
        armed &= each.poll(back, 4) == 0 && each.arm();
      }
      if (armed && !device.await(10_000_000_000L)) {
        break;
      }
    }
    return Arrays.stream(came).sum();
  }

  // Common parts of the tests.

  /**
   * Each task has a separate thread, because a pool with one thread would run two of them one after
   * the other.
   */
  private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

  /** Connects {@link #requester} and {@link #responder}. */
  protected void connect() {
    requester = client.connect(fixture.address(), NOTHING, PATIENCE);
    responder = nextRequest().accept(NOTHING);
    until(() -> atClient.has(Opcode.CONNECT));
    assertEquals(Status.SUCCESS, atClient.last().status());
  }

  /** A signaled READ into the beginning of the client's memory. */
  protected Work read(long wrId, long key, long offset, int length) {
    return Work.read().id(wrId).local(clientRegion, 0, length).remote(key, offset).signaled();
  }

  /** A signaled WRITE from the beginning of the client's memory. */
  protected Work write(long wrId, long key, long offset, int length) {
    return Work.write().id(wrId).local(clientRegion, 0, length).remote(key, offset).signaled();
  }

  /** A SEND from the beginning of the client's memory. */
  protected Work send(long wrId, int length) {
    return Work.send().id(wrId).local(clientRegion, 0, length);
  }

  protected MemoryRegion register(long bytes, int access) {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(bytes);
    return server.register(memory.segment(), memory.backing(), access);
  }

  protected ConnectionRequest nextRequest() {
    for (int i = 0; i < STEPS_MAX; i++) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        return request;
      }
      pollBoth();
    }
    return fail("no connection request; client saw " + tail(atClient) + ", " + requester.failure());
  }

  /** The next completion of the client's, skipping nothing. */
  protected void clientCompletes(long wrId, int opcode, int status) {
    int before = atClient.all.size();
    until(() -> atClient.all.size() > before);
    Recorder.Completion completion = atClient.all.get(before);
    assertEquals(opcode, completion.opcode());
    assertEquals(Status.name(status), Status.name(completion.status()), "work " + wrId);
    assertEquals(wrId, completion.wrId());
  }

  protected void until(BooleanSupplier condition) {
    for (int i = 0; !condition.getAsBoolean(); i++) {
      if (i > STEPS_MAX) {
        fail("did not come about; client saw " + tail(atClient) + ", server saw " + tail(atServer));
      }
      pollBoth();
    }
  }

  private static String tail(Recorder recorder) {
    return recorder
        .all
        .subList(Math.max(0, recorder.all.size() - 5), recorder.all.size())
        .toString();
  }

  protected void steps(int count) {
    for (int i = 0; i < count; i++) {
      pollBoth();
    }
  }

  private void pollBoth() {
    if (requester != null) {
      requester.poll(atClient, 16);
    }
    if (responder != null) {
      responder.poll(atServer, 16);
    }
    fixture.step();
  }

  protected static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
  }

  protected static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  /** The seed of this run; replay it with {@code -Derda.seed=N}. */
  public static long seed() {
    return Long.getLong("erda.seed", System.nanoTime());
  }
}
