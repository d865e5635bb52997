package io.erda.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Flags;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

final class SimulatedDeviceTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final int REMOTE = Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;

  private record Event(long wrId, int opcode, int status, int byteLength, int imm) {}

  /** Two nodes and one connection between them. */
  private static final class Pair {
    final RandomGenerator random;
    final VirtualTime time;
    final SimulatedNetwork network;
    final SimulatedDisk disk;
    final SimulatedDevice server;
    final SimulatedDevice client;
    final PersistentMemory memory;
    final MemoryRegion remote;
    final MemoryRegion serverLocal;
    final MemoryRegion local;
    final QueuePair requester;
    final QueuePair responder;
    final List<Event> atClient = new ArrayList<>();
    final List<Event> atServer = new ArrayList<>();

    Pair(long seed, PersistenceDomain domain) {
      this(
          seed,
          domain,
          NetworkModel.random(Seeds.random(seed ^ 0x5EED)).withReadsOutlivePeer(false));
    }

    Pair(long seed, PersistenceDomain domain, NetworkModel model) {
      random = Seeds.random(seed);
      time = new VirtualTime(random);
      network = new SimulatedNetwork(time, random, model);
      disk = new SimulatedDisk(domain, random);
      server = network.device("server", disk);
      client = network.device("client");
      try {
        SimulatedDirectory directory = disk.directory();
        memory = directory.create("a", 65536);
        directory.sync();
        remote = server.register(memory.segment().asSlice(4096), memory.backing(), REMOTE);
        serverLocal =
            server.register(
                MemorySegment.ofArray(new long[1024]), Backing.none(8192), Access.LOCAL);
        local =
            client.register(
                MemorySegment.ofArray(new long[2048]), Backing.none(16384), Access.LOCAL);
        Listener listener = server.listen("here");
        requester =
            client.connect("here", MemorySegment.ofArray(new byte[] {1, 2}), Duration.ofSeconds(1));
        ConnectionRequest request = null;
        while (request == null) {
          assertTrue(time.step());
          request = listener.poll();
        }
        assertEquals(2, request.privateData().byteSize());
        responder = request.accept(MemorySegment.ofArray(new byte[] {3}));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      while (atClient.isEmpty()) {
        assertTrue(time.step());
        poll();
      }
      assertEquals(List.of(new Event(0, Opcode.CONNECT, Status.SUCCESS, 0, 0)), atClient);
      assertEquals(1, requester.privateData().byteSize());
      atClient.clear();
    }

    Work read(long wrId, long to, long from, int length) {
      return Work.read().id(wrId).local(local, to, length).remote(remote.remoteKey(), from);
    }

    Work write(long wrId, long from, long to, int length) {
      return Work.write().id(wrId).local(local, from, length).remote(remote.remoteKey(), to);
    }

    Work send(long wrId, long from, int length) {
      return Work.send().id(wrId).local(local, from, length);
    }

    void poll() {
      requester.poll(
          (id, op, status, bytes, imm) -> atClient.add(new Event(id, op, status, bytes, imm)), 100);
      responder.poll(
          (id, op, status, bytes, imm) -> atServer.add(new Event(id, op, status, bytes, imm)), 100);
    }

    void settle() {
      time.runFor(1_000_000_000L);
      poll();
    }

    long remoteWord(long offset) {
      return memory.segment().get(SimulatedFile.WORD, 4096 + offset);
    }

    long localWord(long offset) {
      return local.memory().get(SimulatedFile.WORD, offset);
    }

    void fillLocal(long offset, int words, long value) {
      for (int i = 0; i < words; i++) {
        local.memory().set(SimulatedFile.WORD, offset + 8L * i, value);
      }
    }
  }

  @Test
  void whoReceivesASendSeesEveryWriteBefore() {
    Seeds.each(
        300,
        seed -> {
          Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
          pair.fillLocal(0, 256, 7);
          assertTrue(pair.responder.postReceive(9, pair.serverLocal, 0, 64));
          assertTrue(pair.requester.post(pair.write(1, 0, 1024, 1000)));
          assertTrue(pair.requester.post(pair.write(2, 1000, 9001, 1000)));
          assertTrue(pair.requester.post(pair.send(3, 0, 8).signaled()));
          while (pair.atServer.isEmpty()) {
            assertTrue(pair.time.step());
            pair.poll();
          }
          assertEquals(new Event(9, Opcode.RECEIVE, Status.SUCCESS, 8, 0), pair.atServer.get(0));
          for (int i = 0; i < 125; i++) {
            assertEquals(7, pair.remoteWord(1024 + 8 * i));
          }
          byte[] source = pair.local.memory().asSlice(1000, 1000).toArray(ValueLayout.JAVA_BYTE);
          assertEquals(
              -1,
              pair.memory
                  .segment()
                  .asSlice(4096 + 9001, 1000)
                  .mismatch(MemorySegment.ofArray(source)));
          pair.settle();
          assertEquals(List.of(new Event(3, Opcode.SEND, Status.SUCCESS, 8, 0)), pair.atClient);
        });
  }

  /**
   * A crash struck in a handler's submission, after another handler had thrown. The crash was lost
   * among the suppressed exceptions, the process went on, and reported that the put, which it had
   * posted, had not been done (seed 300022846).
   */
  @Test
  void whatCatchesACrashDoesNotBringTheProcessBack() {
    Pair pair = new Pair(1, PersistenceDomain.MEMORY_CONTROLLER);
    pair.client.requireAlive();
    pair.client.crashAfterPosts(1);
    assertThrows(SimulatedCrash.class, () -> pair.requester.post(pair.send(1, 0, 8).signaled()));
    assertThrows(SimulatedCrash.class, () -> pair.requester.post(pair.send(2, 0, 8).signaled()));
    assertThrows(SimulatedCrash.class, pair.client::requireAlive);
  }

  /**
   * A requested crash fell on a post to a connection that had ended, and was forgotten in half of
   * the cases: the process went on, and died in the middle of a last get, long after all faults
   * were over (seed 3492221344294052328).
   */
  @Test
  void aCrashStrikesInAPostToAConnectionThatHasEnded() {
    for (long seed = 1; seed <= 32; seed++) {
      Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
      assertTrue(pair.network.breakConnection(pair.random));
      pair.settle();
      pair.client.crashAfterPosts(1);
      assertThrows(
          SimulatedCrash.class,
          () -> pair.requester.post(pair.send(1, 0, 8).signaled()),
          "seed " + seed);
    }
  }

  @Test
  void writesLandInPiecesAndWordsWhole() {
    Set<Integer> seen = new HashSet<>();
    for (long seed = 1; seed < 100; seed++) {
      Pair pair = new Pair(seed, PersistenceDomain.MEMORY_HIERARCHY);
      pair.fillLocal(0, 64, -1);
      pair.requester.post(pair.write(1, 0, 0, 512).signaled());
      do {
        int landed = 0;
        for (int i = 0; i < 64; i++) {
          long word = pair.remoteWord(8L * i);
          assertTrue(word == 0 || word == -1);
          landed -= (int) word;
        }
        seen.add(landed);
      } while (pair.time.step());
      pair.poll();
      assertEquals(1, pair.atClient.size());
      assertEquals(512, pair.client.statistics().bytesWritten());
      assertEquals(512, pair.client.statistics().bytesDiffering());
    }
    assertTrue(seen.contains(64) && seen.size() > 10, "words seen at a time: " + seen);
  }

  @Test
  void readsSeeDifferentMomentsInside() {
    int torn = 0;
    for (long seed = 1; seed < 200; seed++) {
      Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
      pair.requester.post(pair.read(1, 0, 0, 256).signaled());
      long version = 0;
      while (pair.time.step()) {
        version++;
        for (int i = 0; i < 32; i++) {
          pair.memory.putLongRelease(4096 + 8L * i, version);
        }
      }
      Set<Long> versions = new HashSet<>();
      for (int i = 0; i < 32; i++) {
        versions.add(pair.localWord(8L * i));
      }
      torn += versions.size() > 1 ? 1 : 0;
    }
    assertTrue(torn > 40 && torn < 160, torn + " of 199 READs torn");
  }

  /** Two READs of the same word: the second never sees an older value than the first did. */
  @Test
  void readsExecuteOneAfterTheOther() {
    Seeds.each(
        300,
        seed -> {
          Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
          pair.requester.post(pair.read(1, 0, 0, 256).signaled());
          pair.requester.post(pair.read(2, 256, 0, 256).signaled());
          long version = 0;
          while (pair.time.step()) {
            version++;
            for (int i = 0; i < 32; i++) {
              pair.memory.putLongRelease(4096 + 8L * i, version);
            }
          }
          long newestOfFirst = 0;
          long oldestOfSecond = Long.MAX_VALUE;
          for (int i = 0; i < 32; i++) {
            newestOfFirst = Math.max(newestOfFirst, pair.localWord(8L * i));
            oldestOfSecond = Math.min(oldestOfSecond, pair.localWord(256 + 8L * i));
          }
          assertTrue(newestOfFirst < oldestOfSecond, newestOfFirst + " then " + oldestOfSecond);
          pair.poll();
          assertEquals(List.of(1L, 2L), pair.atClient.stream().map(Event::wrId).toList());
        });
  }

  @Test
  void readSeesTheWriteBeforeIt() {
    Seeds.each(
        200,
        seed -> {
          Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
          pair.fillLocal(0, 64, 3);
          pair.requester.post(pair.write(1, 0, 0, 512));
          pair.requester.post(pair.read(2, 1024, 0, 512).signaled());
          pair.settle();
          for (int i = 0; i < 64; i++) {
            assertEquals(3, pair.localWord(1024 + 8L * i));
          }
        });
  }

  @Test
  void aWriteMayOvertakeAReadUnlessFenced() {
    boolean overtook = false;
    for (long seed = 1; seed < 300; seed++) {
      for (int flags : new int[] {Flags.NONE, Flags.FENCE}) {
        Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
        pair.fillLocal(0, 1, 3);
        pair.requester.post(pair.read(1, 1024, 0, 512).signaled());
        Work write = pair.write(2, 0, 0, 8);
        write.flags = flags;
        pair.requester.post(write);
        pair.settle();
        assertEquals(3, pair.remoteWord(0));
        if (flags == Flags.FENCE) {
          assertEquals(0, pair.localWord(1024));
        } else {
          overtook |= pair.localWord(1024) == 3;
        }
      }
    }
    assertTrue(overtook);
  }

  @Test
  void nicStoresAreLostByPowerFailureUnlessTheServerFlushes() {
    for (boolean flush : new boolean[] {false, true}) {
      int lost = 0;
      for (long seed = 1; seed < 100; seed++) {
        Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
        pair.fillLocal(0, 64, 3);
        pair.requester.post(pair.write(1, 0, 0, 512).signaled());
        pair.settle();
        if (flush) {
          pair.memory.flush(4096, 512);
          pair.memory.drain();
        }
        pair.server.powerFailure();
        lost += pair.disk.powerFailure(pair.random);
      }
      assertEquals(flush, lost == 0);
    }
  }

  @Test
  void wholeSystemPersistenceKeepsWhatTheNicReceived() {
    int kept = 0;
    for (long seed = 1; seed < 100; seed++) {
      Pair pair = new Pair(seed, PersistenceDomain.WHOLE_SYSTEM);
      pair.fillLocal(0, 64, -1);
      pair.requester.post(pair.write(1, 0, 0, 512).signaled());
      do {
        pair.poll();
      } while (pair.atClient.isEmpty() && pair.time.step());
      pair.server.powerFailure();
      pair.disk.powerFailure(pair.random);
      for (int i = 0; i < 64; i++) {
        kept -= (int) pair.remoteWord(8L * i);
      }
    }
    assertEquals(99 * 64, kept);
  }

  @Test
  void closedByItsOwnerNothingTakesEffectAnyMore() {
    for (boolean byServer : new boolean[] {false, true}) {
      Seeds.each(
          200,
          seed -> {
            // Pieces are under way for longer than a completion: one that was reported early is cut
            // off too.
            NetworkModel slowPieces =
                new NetworkModelBuilder(NetworkModel.PAPERS)
                    .spreadNs(20_000)
                    .piecesMax(6)
                    .jitterPercent(30)
                    .slowOdds(0)
                    .slowFactor(1)
                    .queueDepth(64)
                    .receiveDepth(64)
                    .build();
            Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER, slowPieces);
            pair.fillLocal(0, 128, 3);
            pair.responder.postReceive(1, pair.serverLocal, 0, 64);
            pair.requester.post(pair.write(1, 0, 0, 1024).signaled());
            pair.requester.post(pair.read(2, 2048, 0, 1024).signaled());
            pair.requester.post(pair.send(3, 0, 8).signaled());
            for (int i = pair.random.nextInt(16); i > 0; i--) {
              pair.time.step();
            }
            pair.poll();
            (byServer ? pair.responder : pair.requester).close();
            byte[] before = pair.memory.segment().toArray(ValueLayout.JAVA_BYTE);
            byte[] localBefore = pair.local.memory().toArray(ValueLayout.JAVA_BYTE);
            int eventsBefore = byServer ? pair.atServer.size() : pair.atClient.size();
            pair.settle();
            assertEquals(-1, MemorySegment.ofArray(before).mismatch(pair.memory.segment()));
            assertEquals(-1, MemorySegment.ofArray(localBefore).mismatch(pair.local.memory()));
            assertEquals(eventsBefore, byServer ? pair.atServer.size() : pair.atClient.size());
            List<Event> other = byServer ? pair.atClient : pair.atServer;
            assertEquals(Opcode.DISCONNECT, other.getLast().opcode());
            assertEquals(
                1, other.stream().filter(event -> event.opcode() == Opcode.DISCONNECT).count());
            if (byServer) {
              assertEquals(4, other.size(), other.toString());
            }
            QueuePair closed = byServer ? pair.responder : pair.requester;
            MemoryRegion memory = byServer ? pair.serverLocal : pair.local;
            assertThrows(
                IllegalStateException.class,
                () -> closed.post(Work.send().id(1).local(memory, 0, 8)));
          });
    }
  }

  @Test
  void crashOfTheWriterLandsAPrefixAndTearsOne() {
    Set<Integer> landedWrites = new HashSet<>();
    int torn = 0;
    int delivered = 0;
    for (long seed = 1; seed < 400; seed++) {
      Pair pair = new Pair(seed, PersistenceDomain.MEMORY_HIERARCHY);
      pair.fillLocal(0, 64, -1);
      pair.responder.postReceive(1, pair.serverLocal, 0, 64);
      for (int i = 0; i < 3; i++) {
        pair.requester.post(pair.write(i, 0, 512L * i, 512));
      }
      if (seed % 2 == 0) {
        pair.requester.post(pair.send(3, 0, 8));
      } else {
        pair.requester.post(
            Work.writeImm()
                .id(3)
                .local(pair.local, 0, 512)
                .remote(pair.remote.remoteKey(), 1536)
                .imm(1));
      }
      for (int i = pair.random.nextInt(8); i > 0; i--) {
        pair.time.step();
      }
      pair.client.crash();
      pair.fillLocal(0, 64, 5);
      pair.time.runFor(1_000_000_000L);
      pair.responder.poll(
          (id, op, status, bytes, imm) -> pair.atServer.add(new Event(id, op, status, bytes, imm)),
          10);
      int whole = 0;
      for (int i = 0; i < 3; i++) {
        int words = 0;
        for (int j = 0; j < 64; j++) {
          long word = pair.remoteWord(512L * i + 8L * j);
          assertTrue(word == 0 || word == -1, "the dead client's memory was read again: " + word);
          words -= (int) word;
        }
        whole += words == 64 ? 1 : 0;
        torn += words > 0 && words < 64 ? 1 : 0;
      }
      landedWrites.add(whole);
      boolean sent = pair.atServer.get(0).status() == Status.SUCCESS;
      delivered += sent ? 1 : 0;
      assertTrue(!sent || whole == 3, "a message after a lost WRITE");
      for (int j = 0; sent && seed % 2 == 1 && j < 64; j++) {
        assertEquals(-1, pair.remoteWord(1536 + 8L * j), "an immediate after a torn WRITE");
      }
      assertEquals(Opcode.DISCONNECT, pair.atServer.getLast().opcode());
      assertEquals(2, pair.atServer.size());
    }
    assertEquals(Set.of(0, 1, 2, 3), landedWrites);
    assertTrue(torn > 20 && delivered > 20, torn + " torn, " + delivered + " delivered");
  }

  @Test
  void crashOfTheTargetTearsWhatWasLanding() {
    int torn = 0;
    for (long seed = 1; seed < 400; seed++) {
      Pair pair = new Pair(seed, PersistenceDomain.MEMORY_HIERARCHY);
      pair.fillLocal(0, 64, -1);
      pair.requester.post(pair.write(1, 0, 0, 512).signaled());
      for (int i = pair.random.nextInt(6); i > 0; i--) {
        pair.time.step();
      }
      pair.server.crash();
      pair.disk.processCrash();
      byte[] before = pair.memory.segment().toArray(ValueLayout.JAVA_BYTE);
      pair.settle();
      assertEquals(-1, MemorySegment.ofArray(before).mismatch(pair.memory.segment()));
      int words = 0;
      for (int j = 0; j < 64; j++) {
        words -= (int) pair.remoteWord(8L * j);
      }
      torn += words > 0 && words < 64 ? 1 : 0;
      assertEquals(Opcode.DISCONNECT, pair.atClient.getLast().opcode());
      assertEquals(2, pair.atClient.size());
      assertTrue(pair.requester.post(pair.read(5, 0, 0, 8)));
      pair.settle();
      assertEquals(new Event(5, Opcode.READ, Status.FLUSHED, 0, 0), pair.atClient.getLast());
    }
    assertTrue(torn > 10, torn + " torn");
  }

  @Test
  void readsOutliveAPeerThatCrashedWhereTheModelSaysSo() {
    Seeds.each(
        100,
        seed -> {
          Pair pair =
              new Pair(
                  seed,
                  PersistenceDomain.PAGE_CACHE,
                  NetworkModel.PAPERS.withReadsOutlivePeer(true));
          pair.memory.putLongRelease(4096, 11);
          pair.requester.post(pair.read(1, 0, 0, 8).signaled());
          pair.requester.post(pair.write(2, 64, 0, 8).signaled());
          pair.server.crash();
          pair.disk.processCrash();
          pair.settle();
          long before = pair.localWord(0);
          pair.requester.post(pair.read(3, 8, 0, 8).signaled());
          pair.requester.post(pair.write(4, 64, 0, 8).signaled());
          pair.settle();
          assertEquals(11, pair.localWord(8));
          assertTrue(before == 11 || before == 0);
          assertEquals(
              Set.of(
                  new Event(3, Opcode.READ, Status.SUCCESS, 8, 0),
                  new Event(4, Opcode.WRITE, Status.FLUSHED, 0, 0)),
              Set.copyOf(pair.atClient.subList(pair.atClient.size() - 2, pair.atClient.size())));
        });
  }

  @Test
  void lostConnectionEndsBothEndsAndNoWorkSucceedsTorn() {
    Seeds.each(
        400,
        seed -> {
          Pair pair = new Pair(seed, PersistenceDomain.MEMORY_HIERARCHY);
          pair.fillLocal(0, 64, -1);
          pair.requester.post(pair.write(1, 0, 0, 512).signaled());
          pair.requester.post(pair.read(2, 1024, 4096, 512).signaled());
          for (int i = pair.random.nextInt(12); i > 0; i--) {
            pair.time.step();
          }
          assertTrue(pair.network.breakConnection(pair.random));
          assertFalse(pair.network.breakConnection(pair.random));
          pair.requester.post(pair.write(3, 0, 8192, 512).signaled());
          pair.settle();
          assertEquals(0, pair.remoteWord(8192));
          assertEquals(List.of(1L, 2L, 3L, 0L), pair.atClient.stream().map(Event::wrId).toList());
          assertEquals(Status.FLUSHED, pair.atClient.get(2).status());
          assertEquals(Opcode.DISCONNECT, pair.atClient.get(3).opcode());
          assertEquals(Opcode.DISCONNECT, pair.atServer.getLast().opcode());
          if (pair.atClient.get(0).status() == Status.SUCCESS) {
            for (int j = 0; j < 64; j++) {
              assertEquals(-1, pair.remoteWord(8L * j));
            }
          }
        });
  }

  @Test
  void refusals() throws IOException {
    Pair pair = new Pair(1, PersistenceDomain.MEMORY_CONTROLLER);
    long key = pair.remote.remoteKey();
    pair.requester.post(Work.read().id(1).local(pair.local, 0, 8).remote(key + 1, 0));
    pair.requester.post(Work.write().id(2).local(pair.local, 0, 8).remote(key, 65536 - 4096 - 7));
    pair.requester.post(Work.read().id(3).local(pair.local, 0, 8).remote(key, -8));
    pair.requester.post(Work.atomicWrite().id(4).remote(key, 4).value(1));
    pair.server.deregister(pair.remote);
    pair.requester.post(Work.read().id(5).local(pair.local, 0, 8).remote(key, 0));
    pair.settle();
    assertEquals(5, pair.atClient.size());
    assertTrue(pair.atClient.stream().allMatch(event -> event.status() == Status.REMOTE_ACCESS));
    assertThrows(IOException.class, () -> pair.server.listen("here"));
    assertThrows(
        IllegalArgumentException.class,
        () -> pair.requester.post(Work.send().id(1).local(pair.serverLocal, 0, 8)));
    assertThrows(
        IndexOutOfBoundsException.class, () -> pair.requester.post(pair.send(1, 16380, 8)));
    assertThrows(UnsupportedOperationException.class, () -> pair.requester.await(1));
    assertThrows(UnsupportedOperationException.class, () -> pair.client.await(1));

    QueuePair nowhere = pair.client.connect("nowhere", NOTHING, Duration.ofSeconds(1));
    QueuePair ignored = pair.client.connect("here", NOTHING, Duration.ofMillis(1));
    assertFalse(nowhere.post(Work.read().id(1).local(pair.local, 0, 8).remote(key, 0)));
    pair.settle();
    List<Event> events = new ArrayList<>();
    nowhere.poll(
        (id, op, status, bytes, imm) -> events.add(new Event(id, op, status, bytes, imm)), 10);
    ignored.poll(
        (id, op, status, bytes, imm) -> events.add(new Event(id, op, status, bytes, imm)), 10);
    assertEquals(
        List.of(
            new Event(0, Opcode.CONNECT, Status.UNREACHABLE, 0, 0),
            new Event(0, Opcode.CONNECT, Status.TIMEOUT, 0, 0)),
        events);
  }

  @Test
  void messagesWaitForReceivesAndImmediatesAndAtomicsWork() {
    Seeds.each(
        50,
        seed -> {
          Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
          long key = pair.remote.remoteKey();
          pair.fillLocal(0, 8, 77);
          pair.requester.post(
              Work.writeImm().id(1).local(pair.local, 0, 64).remote(key, 0).imm(0x1234).signaled());
          pair.requester.post(pair.send(2, 0, 32).signaled());
          pair.requester.post(
              Work.compareAndSwap()
                  .id(3)
                  .local(pair.local, 64, Long.BYTES)
                  .remote(key, 0)
                  .expected(77)
                  .value(78)
                  .signaled());
          pair.requester.post(Work.atomicWrite().id(4).remote(key, 8).value(99).signaled());
          pair.settle();
          assertEquals(List.of(), pair.atServer);
          assertEquals(List.of(), pair.atClient);
          pair.responder.postReceive(11, pair.serverLocal, 0, 64);
          pair.responder.postReceive(12, pair.serverLocal, 64, 16);
          pair.settle();
          assertEquals(
              List.of(
                  new Event(11, Opcode.RECEIVE_IMM, Status.SUCCESS, 64, 0x1234),
                  new Event(12, Opcode.RECEIVE, Status.LENGTH, 32, 0)),
              pair.atServer);
          assertEquals(List.of(1L, 2L, 3L, 4L), pair.atClient.stream().map(Event::wrId).toList());
          assertEquals(77, pair.localWord(64));
          assertEquals(78, pair.remoteWord(0));
          assertEquals(99, pair.remoteWord(8));
        });
  }

  @Test
  void aFullQueueRefusesUntilPolled() {
    Pair pair = new Pair(3, PersistenceDomain.MEMORY_CONTROLLER);
    int posted = 0;
    while (pair.requester.post(pair.read(posted, 0, 0, 8).signaled())) {
      posted++;
    }
    assertEquals(pair.network.model().queueDepth(), posted);
    pair.time.runFor(1_000_000_000L);
    assertFalse(pair.requester.post(pair.read(posted, 0, 0, 8).signaled()));
    pair.poll();
    assertTrue(pair.requester.post(pair.read(posted, 0, 0, 8).signaled()));
  }

  @Test
  void theSameSeedGivesTheSameRun() {
    for (int i = 0; i < 2; i++) {
      assertEquals(trace(42), trace(42));
    }
    assertFalse(trace(42).equals(trace(43)));
  }

  private static List<Object> trace(long seed) {
    Pair pair = new Pair(seed, PersistenceDomain.MEMORY_CONTROLLER);
    List<Object> trace = new ArrayList<>();
    pair.requester.post(pair.write(1, 0, 0, 1024).signaled());
    pair.requester.post(pair.read(2, 0, 0, 1024).signaled());
    while (pair.time.step()) {
      pair.poll();
      trace.add(pair.time.nowNs());
    }
    trace.add(List.copyOf(pair.atClient));
    return trace;
  }
}
