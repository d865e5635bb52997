package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake.Refusal;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.protocol.Result;
import io.erda.protocol.Root;
import io.erda.protocol.WelcomeBuilder;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests a client whose server ends, refuses, answers garbage, or does not answer. */
class ConnectionTest {
  private final FakeStore store = new FakeStore();

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static ClientOptions hasty() {
    return ClientOptions.DEFAULT
        .withPollingNs(1L << 40)
        .withOperationTimeout(Duration.ofMillis(50))
        .withConnectTimeout(Duration.ofMillis(50));
  }

  @Test
  void noServer() {
    store.stop();
    ErdaException.Unavailable e = assertThrows(ErdaException.Unavailable.class, store::client);
    assertTrue(e.getMessage().contains("no server is there"), e.getMessage());
  }

  @Test
  void serverThatDoesNotAnswerTheHandshake() {
    store.stopped = true;
    assertThrows(ErdaException.Unavailable.class, () -> store.client(hasty()));
  }

  @Test
  void serverThatDoesNotSendTheMap() {
    store.answer = (type, request) -> FakeStore.SILENCE;
    assertThrows(ErdaException.Unavailable.class, () -> store.client(hasty()));
  }

  /** A server that opens its store again ends the connections that it has just accepted. */
  @Test
  void connectionThatIsAcceptedAndEndedAtOnceIsTriedAgain() {
    AtomicInteger maps = new AtomicInteger();
    store.answer =
        (type, request) -> {
          if (type == Message.MAP && maps.getAndIncrement() < 2) {
            store.disconnect();
            return FakeStore.SILENCE;
          }
          return Result.OK;
        };
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
    }
    assertTrue(maps.get() > 2, () -> maps + " maps");
  }

  @Test
  void connectionThatIsAlwaysEndedAtOnceIsGivenUpInTime() {
    store.answer =
        (type, request) -> {
          store.disconnect();
          return FakeStore.SILENCE;
        };
    // Some forty attempts: the pauses between them take real time.
    ClientOptions brief = hasty().withConnectTimeout(Duration.ofNanos(200 * FakeStore.TICK_NS));
    assertThrows(ErdaException.Unavailable.class, () -> store.client(brief));
  }

  /** Found by a stranger: the second attempt took the whole time-out once more. */
  @Test
  void allAttemptsToConnectHaveOneTimeOut() {
    long timeoutNs = 2_000 * FakeStore.TICK_NS;
    long beganNs = store.getAsLong();
    AtomicInteger ended = new AtomicInteger();
    store.answer = (type, request) -> FakeStore.SILENCE;
    store.clientDevice.onPoll =
        () -> {
          if (store.getAsLong() - beganNs > timeoutNs * 3 / 4 && ended.getAndIncrement() == 0) {
            store.disconnect();
          }
        };
    ClientOptions brief = hasty().withConnectTimeout(Duration.ofNanos(timeoutNs));
    ErdaException.Unavailable e =
        assertThrows(ErdaException.Unavailable.class, () -> store.client(brief));
    long tookNs = store.getAsLong() - beganNs;
    assertTrue(ended.get() > 1, e.getMessage());
    assertTrue(tookNs < timeoutNs * 5 / 4, tookNs + " ns, of " + timeoutNs + ": " + e.getMessage());
  }

  @Test
  void refusals() {
    store.refusal = new Refusal(Refusal.PROMISE, "store promises PROCESS, client requires POWER");
    ErdaException.Refused refused = assertThrows(ErdaException.Refused.class, store::client);
    assertEquals("store promises PROCESS, client requires POWER", refused.getMessage());
    store.refusal = new Refusal(Refusal.CONNECTIONS, "all 3 connections are taken");
    ErdaException.Full full = assertThrows(ErdaException.Full.class, store::client);
    assertEquals(ErdaException.Full.What.CONNECTIONS, full.what());
  }

  @Test
  void promiseThatIsTooWeakIsRefusedByTheClientToo() {
    assertThrows(
        ErdaException.Refused.class, () -> store.client(hasty().withRequired(Promise.POWER)));
    store.client(hasty().withRequired(Promise.PROCESS)).close();
  }

  @Test
  void connectionThatEndsBeforeAPutIsMadeAnew() {
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      store.disconnect();
      erda.put(bytes("a"), bytes("2"));
      assertArrayEquals(bytes("2"), erda.get(bytes("a")));
      store.disconnect();
      assertArrayEquals(bytes("2"), erda.get(bytes("a")));
      assertEquals(3, erda.statistics().connections());
    }
  }

  @Test
  void connectionThatEndsAfterAPublishLeavesTheOutcomeUnknown() {
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      store.answer =
          (type, request) -> {
            if (type == Message.PUBLISH) {
              store.disconnect();
              return FakeStore.SILENCE;
            }
            return Result.OK;
          };
      ErdaException.OutcomeUnknown e =
          assertThrows(ErdaException.OutcomeUnknown.class, () -> erda.put(bytes("a"), bytes("2")));
      assertTrue(e.getMessage().contains("key 'a'"), e.getMessage());
      long publishes = store.requests.stream().filter(type -> type == Message.PUBLISH).count();
      assertThrows(ErdaException.OutcomeUnknown.class, () -> erda.delete(bytes("a")));
      store.answer = (type, request) -> Result.OK;
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      assertEquals(
          publishes + 1,
          store.requests.stream().filter(type -> type == Message.PUBLISH).count(),
          "nothing is replayed");
    }
  }

  @Test
  void connectionThatEndsBeforeThePublishIsTriedAgain() {
    try (ErdaClient erda = store.client()) {
      boolean[] done = {false};
      store.answer =
          (type, request) -> {
            if (type == Message.LEASE && !done[0]) {
              done[0] = true;
              store.disconnect();
              return FakeStore.SILENCE;
            }
            return Result.OK;
          };
      erda.put(bytes("a"), bytes("1"));
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
    }
  }

  @Test
  void connectionThatAlwaysEndsIsUnavailable() {
    try (ErdaClient erda = store.client()) {
      store.answer =
          (type, request) -> {
            if (type == Message.LEASE) {
              store.disconnect();
              return FakeStore.SILENCE;
            }
            return Result.OK;
          };
      assertThrows(ErdaException.Unavailable.class, () -> erda.put(bytes("a"), bytes("1")));
    }
  }

  @Test
  void fencedWriteOrSendIsNoSuccess() {
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      for (int broken : new int[] {Opcode.WRITE, Opcode.SEND}) {
        for (int status : new int[] {Status.FENCED, Status.FLUSHED, Status.LOCAL}) {
          store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
          store.clientDevice.hook =
              (opcode, key, offset, length) -> opcode == broken ? status : HookedDevice.GO;
          // Operations that the server did not begin are taken back, and tried again without
          // success.
          Class<? extends ErdaException> expected =
              broken == Opcode.WRITE
                  ? ErdaException.Unavailable.class
                  : ErdaException.OutcomeUnknown.class;
          assertThrows(
              expected, () -> erda.put(bytes("a"), bytes("2")), broken + " " + Status.name(status));
          store.clientDevice.hook = (opcode, key, offset, length) -> HookedDevice.GO;
          store.answer = (type, request) -> Result.OK;
          erda.put(bytes("a"), bytes("3"));
        }
      }
    }
  }

  @Test
  void writeToARevokedRegionIsDoneElsewhere() {
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      boolean[] done = {false};
      store.clientDevice.hook =
          (opcode, key, offset, length) -> {
            if (opcode == Opcode.WRITE && !done[0]) {
              done[0] = true;
              return Status.REMOTE_ACCESS;
            }
            return HookedDevice.GO;
          };
      erda.put(bytes("a"), bytes("2"));
      assertArrayEquals(bytes("2"), erda.get(bytes("a")));
    }
  }

  /**
   * The server has finished the announcement, and the WRITE may still be in transit. The server
   * decides the outcome when it notices the end of the connection.
   */
  @Test
  void whatWasAnnouncedAndWrittenIsUnknownAndNotFinal() {
    store.welcome = said -> said.promise(Promise.ATOMIC).putMode(PutMode.ANNOUNCE.code());
    store.tamper =
        (type, response, length) -> {
          if (type != Message.ANNOUNCE) {
            return length;
          }
          Message.putInt(response, Message.ANNOUNCED_AWAITED, 1);
          Message.putInt(response, 4, Message.ANNOUNCE_RESPONSE_BYTES);
          return Message.ANNOUNCE_RESPONSE_BYTES;
        };
    try (ErdaClient erda = store.client()) {
      store.clientDevice.hook =
          (opcode, key, offset, length) ->
              opcode == Opcode.WRITE ? Status.FLUSHED : HookedDevice.GO;
      ErdaException.OutcomeUnknown e =
          assertThrows(ErdaException.OutcomeUnknown.class, () -> erda.put(bytes("a"), bytes("1")));
      assertFalse(e.isFinal(), e.getMessage());
      assertTrue(e.getMessage().contains("may still take effect"), e.getMessage());
    }
  }

  @Test
  void publishWithoutAnAnswerTimesOutAsUnknown() {
    try (ErdaClient erda = store.client(hasty())) {
      erda.put(bytes("a"), bytes("1"));
      store.answer = (type, request) -> type == Message.PUBLISH ? FakeStore.SILENCE : Result.OK;
      ErdaException.OutcomeUnknown e =
          assertThrows(ErdaException.OutcomeUnknown.class, () -> erda.put(bytes("a"), bytes("2")));
      assertTrue(e.getMessage().contains("50 ms"), e.getMessage());
      store.answer = (type, request) -> Result.OK;
      erda.put(bytes("a"), bytes("3"));
      assertArrayEquals(bytes("3"), erda.get(bytes("a")));
      assertEquals(2, erda.statistics().connections());
    }
  }

  @Test
  void leaseWithoutAnAnswerTimesOutAsUnavailable() {
    try (ErdaClient erda = store.client(hasty())) {
      store.answer = (type, request) -> type == Message.LEASE ? FakeStore.SILENCE : Result.OK;
      assertThrows(ErdaException.Unavailable.class, () -> erda.put(bytes("a"), bytes("2")));
      store.answer = (type, request) -> Result.OK;
      erda.put(bytes("a"), bytes("3"));
    }
  }

  /** Found by a stranger: its get and its put had a time-out each. */
  @Test
  void aPutIfAbsentHasOneTimeOut() {
    try (ErdaClient erda = store.client(hasty())) {
      long timeoutNs = hasty().operationTimeout().toNanos();
      long beganNs = store.getAsLong();
      store.clientDevice.hook =
          (opcode, key, offset, length) ->
              opcode == Opcode.READ && store.getAsLong() - beganNs < timeoutNs * 3 / 4
                  ? HookedDevice.REFUSE
                  : HookedDevice.GO;
      AtomicInteger leases = new AtomicInteger();
      store.answer =
          (type, request) -> {
            leases.addAndGet(type == Message.LEASE ? 1 : 0);
            return type == Message.LEASE ? FakeStore.SILENCE : Result.OK;
          };
      assertThrows(ErdaException.Unavailable.class, () -> erda.putIfAbsent(bytes("a"), bytes("1")));
      long tookNs = store.getAsLong() - beganNs;
      assertTrue(leases.get() > 0, "the put did not begin");
      assertTrue(tookNs < timeoutNs * 5 / 4, tookNs + " ns, of " + timeoutNs);
    }
  }

  /**
   * Seen on a full disk: the only file for another region was that of a cleaned region. The server
   * waited for its clients to leave that region, and the clients waited for the lease and did not
   * learn of the cleaning.
   */
  @Test
  void whoWaitsForALeaseHearsWhichRegionsAreGone() {
    try (ErdaClient erda = store.client()) {
      store.requests.clear();
      store.answer = (type, request) -> type == Message.LEASE ? FakeStore.SILENCE : Result.OK;
      assertThrows(ErdaException.Unavailable.class, () -> erda.put(bytes("a"), bytes("1")));
      assertEquals(Message.LEASE, store.requests.getFirst());
      assertTrue(store.requests.contains(Message.MAP), store.requests.toString());
    }
  }

  /** The file of a region that is gone takes room on the disk as long as a client maps it. */
  @Test
  void whoFindsTheDiskFullHearsWhichRegionsAreGone() {
    try (ErdaClient erda = store.client()) {
      store.requests.clear();
      store.answer = (type, request) -> type == Message.LEASE ? Result.DISK_FULL : Result.OK;
      assertThrows(ErdaException.Full.class, () -> erda.put(bytes("a"), bytes("1")));
      assertNull(erda.get(bytes("a")));
      store.step();
      assertEquals(List.of(Message.LEASE, Message.MAP), store.requests);
    }
  }

  /**
   * The answer arrives exactly at the reading of the clock at which the time-out has passed, so the
   * operation has ended when the client handles the answer. It depends on the client which reading
   * that is, so each of the first readings is tried.
   */
  @Test
  void answerToAnOperationWhoseTimeIsOverIsDropped() {
    int late = 0;
    for (int reading = 1; reading <= 8; reading++) {
      try (ErdaClient erda = store.client(hasty())) {
        store.answer = (type, request) -> type == Message.STATS ? Result.READ_ONLY : Result.OK;
        store.stopped = true;
        int[] readings = {reading};
        store.onTick =
            () -> {
              if (--readings[0] == 0) {
                store.nowNs += Duration.ofMillis(60).toNanos();
                store.stopped = false;
              }
            };
        late +=
            assertThrows(ErdaException.class, erda::stats).getMessage().contains("50 ms") ? 1 : 0;
        store.onTick = () -> {};
        store.answer = (type, request) -> Result.OK;
        assertFalse(erda.stats().isEmpty());
      }
    }
    assertTrue(late > 0, "no answer came late");
  }

  @Test
  void serverThatIsGoneForGood() {
    try (ErdaClient erda = store.client(hasty())) {
      erda.put(bytes("a"), bytes("1"));
      store.disconnect();
      store.stop();
      long before = store.nowNs;
      assertThrows(ErdaException.Unavailable.class, () -> erda.put(bytes("a"), bytes("2")));
      assertTrue(store.nowNs - before < 5_000_000, "no server at all is known at once");
      assertThrows(ErdaException.Unavailable.class, () -> erda.get(bytes("a")));
      store.start();
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      erda.put(bytes("a"), bytes("2"));
    }
  }

  @Test
  void readsGoOnWithoutAServerWhereTheDeviceAllows() {
    store.clientDevice.outlives = true;
    try (ErdaClient erda = store.client(hasty())) {
      erda.put(bytes("a"), bytes("1"));
      assertNull(erda.get(bytes("b")));
      store.clientDevice.last.complete(0, Opcode.DISCONNECT, Status.SUCCESS);
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      assertNull(erda.get(bytes("b")));
      store.stopped = true;
      assertThrows(ErdaException.Unavailable.class, () -> erda.put(bytes("a"), bytes("2")));
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      store.stopped = false;
      erda.put(bytes("a"), bytes("2"));
      assertArrayEquals(bytes("2"), erda.get(bytes("a")));
    }
  }

  @Test
  void restartedServerIsConnectedToAnew() {
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      store.setRoot(Root.INCARNATION_OFFSET, 2);
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      assertEquals(2, erda.statistics().connections());
      erda.put(bytes("a"), bytes("2"));
    }
  }

  @Test
  void serverThatIsStartingIsWaitedFor() {
    store.clientDevice.outlives = true;
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      store.unlisten();
      store.clientDevice.last.complete(0, Opcode.DISCONNECT, Status.SUCCESS);
      store.setRoot(Root.INCARNATION_OFFSET, 2);
      // The new server listens 100 ms after it stored its incarnation.
      long startNs = store.nowNs + 100_000_000;
      store.onTick =
          () -> {
            if (store.stopped && store.nowNs >= startNs) {
              store.start();
            }
          };
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
    }
  }

  @Test
  void endedReservationIsLeasedAnew() {
    try (ErdaClient erda = store.client()) {
      erda.put(bytes("a"), bytes("1"));
      erda.put(bytes("a"), bytes("2"));
      store.endReservations();
      erda.put(bytes("a"), bytes("3"));
      assertArrayEquals(bytes("3"), erda.get(bytes("a")));
      assertTrue(erda.statistics().rewrites() >= 1);
    }
  }

  @Test
  void reservationThatNeverHoldsIsUnavailable() {
    try (ErdaClient erda = store.client()) {
      store.answer = (type, request) -> type == Message.PUBLISH ? Result.NO_RESERVATION : Result.OK;
      assertThrows(ErdaException.Unavailable.class, () -> erda.put(bytes("a"), bytes("1")));
    }
  }

  @Test
  void invalidObjectIsWrittenOnceMore() {
    try (ErdaClient erda = store.client()) {
      int[] count = {0};
      store.answer =
          (type, request) ->
              type == Message.PUBLISH && count[0]++ == 0 ? Result.INVALID_OBJECT : Result.OK;
      erda.put(bytes("a"), bytes("1"));
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      store.answer = (type, request) -> type == Message.PUBLISH ? Result.INVALID_OBJECT : Result.OK;
      assertThrows(ErdaException.Damaged.class, () -> erda.put(bytes("a"), bytes("2")));
    }
  }

  /** Found by a review: where the server could make no file, deletes failed as puts did. */
  @Test
  void aDeleteThatGetsNoSpaceIsDoneWithout() {
    try (ErdaClient erda = store.client()) {
      for (int result :
          new int[] {Result.LOG_FULL, Result.DISK_FULL, Result.NOT_NOW, Result.OVER_QUOTA}) {
        store.put("a", "1");
        store.answer = (type, request) -> type == Message.LEASE ? result : Result.OK;
        assertTrue(erda.delete(bytes("a")), Result.name(result));
        assertNull(erda.get(bytes("a")), Result.name(result));
      }
    }
  }

  @Test
  void resultsAreTypedErrors() {
    try (ErdaClient erda = store.client()) {
      store.put("a", "1");
      int[] results = {Result.LOG_FULL, Result.DISK_FULL, Result.READ_ONLY, Result.TOO_LARGE};
      for (int result : results) {
        store.answer = (type, request) -> type == Message.LEASE ? result : Result.OK;
        ErdaException e = assertThrows(ErdaException.class, () -> erda.put(bytes("a"), bytes("2")));
        assertTrue(e.getMessage().contains(Result.name(result)), e.getMessage());
        assertTrue(
            result == Result.READ_ONLY
                ? e instanceof ErdaException.ReadOnly
                : result == Result.TOO_LARGE
                    ? e instanceof ErdaException.BadSize
                    : e instanceof ErdaException.Full);
        assertArrayEquals(bytes("1"), erda.get(bytes("a")));
      }
      store.answer = (type, request) -> type == Message.PUBLISH ? Result.TABLE_FULL : Result.OK;
      ErdaException.Full full =
          assertThrows(ErdaException.Full.class, () -> erda.put(bytes("a"), bytes("2")));
      assertEquals(ErdaException.Full.What.TABLE, full.what());
    }
  }

  @Test
  void deleteWorksInAFullLog() {
    try (ErdaClient erda = store.client()) {
      store.put("a", "1");
      store.answer = (type, request) -> type == Message.LEASE ? Result.LOG_FULL : Result.OK;
      assertTrue(erda.delete(bytes("a")));
      assertNull(erda.get(bytes("a")));
      assertFalse(erda.delete(bytes("a")));
    }
  }

  /** The first words are the client's, the others the server's. */
  @Test
  void whoHasAllThatItMayHaveIsToldSo() {
    try (ErdaClient erda = store.client()) {
      store.put("a", "1");
      store.answer = (type, request) -> type == Message.LEASE ? Result.OVER_QUOTA : Result.OK;
      store.tamper =
          (type, response, length) -> {
            if (Message.result(response, 0) != Result.OVER_QUOTA) {
              return length;
            }
            int all =
                Message.putReason(response, 0, "the server leases at most 8 bytes to a client");
            Message.putHeader(
                response,
                0,
                type,
                Result.OVER_QUOTA,
                all,
                Message.requestId(response, 0),
                Message.clientId(response, 0),
                Message.connectionEpoch(response, 0));
            return all;
          };
      ErdaException.Full full =
          assertThrows(ErdaException.Full.class, () -> erda.put(bytes("a"), bytes("2")));
      assertEquals(ErdaException.Full.What.QUOTA, full.what());
      assertTrue(
          full.getMessage().endsWith("over quota: the server leases at most 8 bytes to a client"),
          full.getMessage());
      assertTrue(erda.delete(bytes("a")), "a delete does without space");
      store.answer = (type, request) -> Result.OK;
      erda.put(bytes("a"), bytes("3"));
      assertArrayEquals(bytes("3"), erda.get(bytes("a")));
    }
  }

  @Test
  void fullLogThatGetsRoomTakesPutsAgain() {
    try (ErdaClient erda = store.client()) {
      store.answer = (type, request) -> type == Message.LEASE ? Result.LOG_FULL : Result.OK;
      assertThrows(ErdaException.Full.class, () -> erda.put(bytes("a"), bytes("1")));
      store.answer = (type, request) -> Result.OK;
      erda.put(bytes("a"), bytes("1"));
    }
  }

  @Test
  void leaseInARegionThatTheMapDoesNotNameYet() {
    try (ErdaClient erda = store.client()) {
      // A new generation: the lease names it, the client's map does not.
      store.generation++;
      store.setRoot(Root.EPOCH_OFFSET, 2);
      erda.put(bytes("a"), bytes("1"));
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
    }
  }

  @Test
  void welcomesThatCanNotBe() {
    List<UnaryOperator<WelcomeBuilder>> wrongs =
        List.of(
            w -> w.store(null),
            w -> w.incarnation(0),
            w -> w.rootKey(0),
            w -> w.regionBytes(3 << 20),
            w -> w.regionBytes(1 << 12),
            w -> w.segmentBytes(-4096),
            w -> w.segmentBytes(1 << 25),
            w -> w.heads(257),
            w -> w.putMode(1),
            w -> w.putMode(2),
            w -> w.clientId(0),
            w -> w.keyBytesMax(4096),
            w -> w.valueBytesMax(1 << 30),
            w -> w.messageBytesMax(64));
    for (UnaryOperator<WelcomeBuilder> wrong : wrongs) {
      store.welcome = wrong;
      ErdaException.Refused e =
          assertThrows(ErdaException.Refused.class, () -> store.client(hasty()));
      assertTrue(e.getMessage().contains("sent"), e.getMessage());
    }
    store.welcome = w -> w;
    store.welcomeBytes = bytes -> bytes.asSlice(0, 100);
    assertThrows(ErdaException.Refused.class, () -> store.client(hasty()));
    store.welcomeBytes = bytes -> bytes;
    store.client(hasty()).close();
  }

  @Test
  void anotherStoreAtTheSameAddressIsRefused() {
    try (ErdaClient erda = store.client()) {
      store.welcome = w -> w.store(new java.util.UUID(9, 9));
      store.disconnect();
      assertThrows(ErdaException.Refused.class, () -> erda.get(bytes("a")));
    }
  }

  @Test
  void garbageInAnyResponseEndsTheConnectionAndNothingElse() {
    long seed = Long.getLong("erda.seed", 5);
    Random random = new Random(seed);
    store.put("a", "1");
    try (ErdaClient erda = store.client(hasty())) {
      for (int round = 0; round < 600; round++) {
        int kind = random.nextInt(4);
        int victim = 1 + random.nextInt(7);
        store.tamper =
            (type, response, length) -> {
              if (type != victim) {
                return length;
              }
              return switch (kind) {
                case 0 -> random.nextInt(4, 4096);
                case 1 -> {
                  response.set(
                      ValueLayout.JAVA_BYTE, random.nextInt(length), (byte) random.nextInt());
                  yield length;
                }
                case 2 -> {
                  response.set(
                      ValueLayout.JAVA_INT, 4 * random.nextInt(length / 4), random.nextInt());
                  yield length;
                }
                default -> {
                  for (int i = 24; i < length; i++) {
                    response.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
                  }
                  yield length;
                }
              };
            };
        try {
          switch (random.nextInt(5)) {
            case 0 -> erda.put(bytes("b" + round % 9), new byte[random.nextInt(500)]);
            case 1 -> erda.delete(bytes("b" + round % 9));
            case 2 -> erda.stats();
            case 3 -> {
              store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1);
              assertArrayEquals(bytes("1"), erda.get(bytes("a")));
            }
            default -> assertArrayEquals(bytes("1"), erda.get(bytes("a")));
          }
        } catch (ErdaException e) {
          assertFalse(e.getMessage().isBlank());
        } catch (RuntimeException | AssertionError e) {
          throw new AssertionError(
              "-Derda.seed=" + seed + ", round " + round + ", type " + victim + ", kind " + kind,
              e);
        }
        if (round % 20 == 0) {
          // The store has no cleaner; keep it from filling up.
          store.tamper = (type, response, length) -> length;
          store.disconnect();
          store.endReservations();
        }
      }
      store.tamper = (type, response, length) -> length;
      store.disconnect();
      store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1);
      assertArrayEquals(bytes("1"), erda.get(bytes("a")));
    }
  }

  @Test
  void mapPageThatNamesMoreRecordsThanItHolds() {
    store.tamper =
        (type, response, length) -> {
          Message.putInt(response, 4, length - Message.RECORD_BYTES);
          return length - Message.RECORD_BYTES;
        };
    ErdaException.Unavailable e =
        assertThrows(ErdaException.Unavailable.class, () -> store.client(hasty()));
    assertTrue(e.getMessage().contains("map page of 2 of 2 regions"), e.getMessage());
  }

  /** The bytes after a short message belong to another message. */
  @Test
  void responseWhoseLengthFieldDoesNotAgreeEndsTheConnection() {
    try (ErdaClient erda = store.client(hasty())) {
      store.tamper = (type, response, length) -> type == Message.PUBLISH ? length - 4 : length;
      ErdaException e = assertThrows(ErdaException.class, () -> erda.put(bytes("a"), bytes("1")));
      assertTrue(e.getMessage().contains("length field does not agree"), e.getMessage());
    }
  }

  /** A WRITE with immediate data takes a receive of the client's and is no response. */
  @Test
  void aWriteWithImmediateDataEndsTheConnection() {
    try (ErdaClient erda = store.client(hasty())) {
      store.writesInstead = store.writableKey();
      ErdaException e = assertThrows(ErdaException.Unavailable.class, erda::stats);
      assertTrue(e.getMessage().contains("a WRITE with immediate data"), e.getMessage());
      store.writesInstead = 0;
      store.disconnect();
      erda.stats();
    }
  }

  @Test
  void unaskedResponseEndsTheConnection() {
    try (ErdaClient erda = store.client(hasty())) {
      List<java.util.function.Consumer<MemorySegment>> wrongs =
          List.of(
              response -> Message.putLong(response, 8, 123456),
              response -> Message.putLong(response, 8, Message.requestId(response, 0) + 65536),
              response -> response.set(ValueLayout.JAVA_SHORT, 0, (short) Message.STATS));
      for (var wrong : wrongs) {
        store.tamper =
            (type, response, length) -> {
              if (type == Message.PUBLISH) {
                wrong.accept(response);
              }
              return length;
            };
        assertThrows(ErdaException.OutcomeUnknown.class, () -> erda.put(bytes("a"), bytes("1")));
        store.tamper = (type, response, length) -> length;
        erda.put(bytes("a"), bytes("2"));
      }
    }
  }

  @Test
  void messageForAnotherClientEndsTheConnection() {
    try (ErdaClient erda = store.client(hasty())) {
      store.tamper =
          (type, response, length) -> {
            if (type == Message.STATS) {
              Message.putInt(response, 16, 77);
            }
            return length;
          };
      ErdaException e = assertThrows(ErdaException.Unavailable.class, erda::stats);
      assertTrue(e.getMessage().contains("77"), e.getMessage());
    }
  }

  @Test
  void heapAndNativeSegmentsAreTaken() {
    try (ErdaClient erda = store.client()) {
      erda.put(MemorySegment.ofArray(bytes("heap")), MemorySegment.ofArray(new long[] {1, 2}));
      assertEquals(16, erda.get(bytes("heap")).length);
    }
  }
}
