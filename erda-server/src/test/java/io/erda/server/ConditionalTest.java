package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaFutures;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Puts and deletes that are done only if the key has a certain value, or none. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ConditionalTest {
  private static final byte[] KEY = {1};
  private static final byte[] EMPTY = {};
  private static final int THREADS = 4;
  private static final Executor THREAD = task -> Thread.ofPlatform().daemon().start(task);

  @TempDir private Path directory;

  /** A store of this promise; where that is ATOMIC, its puts announce first. */
  private ServerOptions options(Promise promise) {
    if (promise == Promise.POWER) {
      Disk.assumeHolds(directory);
    }
    return ServedElsewhere.OPTIONS
        .withPutMode(promise == Promise.ATOMIC ? PutMode.ANNOUNCE : PutMode.PUBLISH)
        .withPromise(promise)
        .withListening(List.of(Listening.tcp("127.0.0.1:0")));
  }

  @ParameterizedTest
  @EnumSource(
      value = Promise.class,
      names = {"ATOMIC", "PROCESS", "POWER"})
  void eachHoldsOrDoesNot(Promise promise) throws IOException {
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options(promise))) {
      for (String uri : server.uris()) {
        try (ErdaClient client = ErdaClient.connect(uri)) {
          eachHoldsOrDoesNot(client);
        }
      }
    }
  }

  @Test
  void eachHoldsOrDoesNotInTheStoresOwnProcess() throws IOException {
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), ServedElsewhere.OPTIONS);
        ErdaClient client = store.client()) {
      eachHoldsOrDoesNot(client);
    }
  }

  private static void eachHoldsOrDoesNot(ErdaClient client) {
    byte[] small = {7};
    byte[] large = new byte[20_000];
    byte[] other = large.clone();
    other[19_999] = 1;
    client.delete(KEY);
    assertFalse(client.compareAndSet(KEY, EMPTY, small), "absent is no value");
    assertFalse(client.compareAndDelete(KEY, EMPTY));
    assertNull(client.get(KEY));
    assertTrue(client.putIfAbsent(KEY, EMPTY));
    assertFalse(client.putIfAbsent(KEY, small), "an empty value is one");
    assertArrayEquals(EMPTY, client.get(KEY));
    assertFalse(client.compareAndSet(KEY, small, large));
    assertTrue(client.compareAndSet(KEY, EMPTY, large));
    assertFalse(client.compareAndSet(KEY, other, small), "the last byte differs");
    assertFalse(client.compareAndSet(KEY, new byte[19_999], small), "one byte less");
    assertArrayEquals(large, client.get(KEY));
    assertTrue(client.compareAndSet(KEY, large, large), "with itself");
    assertFalse(client.compareAndDelete(KEY, other));
    assertTrue(client.compareAndDelete(KEY, large));
    assertFalse(client.compareAndDelete(KEY, large));
    assertNull(client.get(KEY));
    assertTrue(client.putIfAbsent(KEY, small), "over a deleted one");
    assertArrayEquals(small, client.get(KEY));
  }

  /**
   * Everybody adds to one counter: what is added is what is there in the end. A server ends the
   * connection of a client that does not write an announced object in time, which a loaded machine
   * makes happen. The client then does not know whether the addition was done.
   */
  @ParameterizedTest
  @EnumSource(
      value = Promise.class,
      names = {"ATOMIC", "PROCESS", "POWER"})
  void noAdditionGetsLost(Promise promise) throws Exception {
    int additions = promise == Promise.POWER ? 100 : 1000;
    AtomicInteger unknown = new AtomicInteger();
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options(promise));
        ErdaClient control = ErdaClient.connect(server.uri())) {
      control.put(KEY, number(0));
      List<Integer> conflicts =
          everybody(
              server,
              client -> {
                int missed = 0;
                for (int i = 0; i < additions; i++) {
                  try {
                    byte[] before = client.get(KEY);
                    while (!client.compareAndSet(KEY, before, number(number(before) + 1))) {
                      missed++;
                      before = client.get(KEY);
                    }
                  } catch (ErdaException.OutcomeUnknown e) {
                    assertSame(Promise.ATOMIC, promise, e::toString);
                    unknown.incrementAndGet();
                  }
                }
                return missed;
              });
      int missing = THREADS * additions - number(control.get(KEY));
      assertTrue(
          missing >= 0 && missing <= unknown.get(),
          () -> missing + " are missing, " + unknown + " are unknown");
      assertTrue(conflicts.stream().mapToInt(each -> each).sum() > 0, "they never met");
    }
  }

  /** Of several concurrent puts one succeeds. */
  @ParameterizedTest
  @EnumSource(
      value = Promise.class,
      names = {"ATOMIC", "PROCESS"})
  void ofSeveralThatFindNothingOneIsDone(Promise promise) throws Exception {
    int keys = 2000;
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options(promise));
        ErdaClient control = ErdaClient.connect(server.uri())) {
      List<Integer> done =
          everybody(
              server,
              client -> {
                int successes = 0;
                for (int i = 0; i < keys; i++) {
                  successes += client.putIfAbsent(number(i), number(i)) ? 1 : 0;
                }
                return successes;
              });
      assertEquals(keys, done.stream().mapToInt(each -> each).sum());
      List<Integer> deleted =
          everybody(
              server,
              client -> {
                int successes = 0;
                for (int i = 0; i < keys; i++) {
                  successes += client.compareAndDelete(number(i), number(i)) ? 1 : 0;
                }
                return successes;
              });
      assertEquals(keys, deleted.stream().mapToInt(each -> each).sum());
      assertNull(control.get(number(0)));
    }
  }

  private static List<Integer> everybody(ErdaServer server, ToIntFunction<ErdaClient> what)
      throws Exception {
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      String uri = server.uris().get(i % server.uris().size());
      all.add(
          CompletableFuture.supplyAsync(
              () -> {
                try (ErdaClient client = ErdaClient.connect(uri)) {
                  return what.applyAsInt(client);
                }
              },
              THREAD));
    }
    List<Integer> results = new ArrayList<>();
    for (CompletableFuture<Integer> each : all) {
      results.add(each.get(100, TimeUnit.SECONDS));
    }
    return results;
  }

  /** An unconditional delete needs no space; one that compares says that there is none. */
  @ParameterizedTest
  @EnumSource(PutMode.class)
  void aFullLogIsSaid(PutMode mode) throws IOException {
    ServerOptions small =
        ServedElsewhere.OPTIONS
            .withPutMode(mode)
            .withHeads(1)
            .withRegionBytes(1 << 16)
            .withSegmentBytes(4096)
            .withCapacityBytes(1 << 17)
            .withBuckets(64)
            .withCleaning(false);
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), small);
        ErdaClient client = store.client()) {
      byte[] value = new byte[3000];
      assertThrows(
          ErdaException.Full.class,
          () -> {
            for (int i = 0; ; i++) {
              client.put(number(i), value);
            }
          });
      byte[] tombstone = new byte[1500];
      assertThrows(
          ErdaException.Full.class,
          () -> {
            for (int i = 0; i < 1000; i++) {
              client.compareAndSet(number(0), tombstone, tombstone);
            }
          });
      assertTrue(client.delete(number(0)));
      assertFalse(client.putIfAbsent(number(1), value), "it needs no space to see that");
    }
  }

  @Test
  void badSizesAreRefused() throws IOException {
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), ServedElsewhere.OPTIONS);
        ErdaClient client = store.client()) {
      byte[] tooLong = new byte[client.valueBytesMax() + 1];
      assertThrows(ErdaException.BadSize.class, () -> client.putIfAbsent(EMPTY, EMPTY));
      assertThrows(ErdaException.BadSize.class, () -> client.putIfAbsent(KEY, tooLong));
      assertThrows(ErdaException.BadSize.class, () -> client.compareAndSet(KEY, EMPTY, tooLong));
    }
  }

  /** No key has such a value: the condition does not hold. */
  @Test
  void anExpectedValueThatIsTooLongIsAnotherOne() throws Exception {
    try (ErdaStore store = ErdaStore.open(directory.resolve("data"), ServedElsewhere.OPTIONS);
        ErdaClient client = store.client();
        ErdaFutures futures = store.futures(ClientOptions.DEFAULT, 16)) {
      client.put(KEY, EMPTY);
      byte[] tooLong = new byte[client.valueBytesMax(KEY.length) + 1];
      for (int i = 0; i < 100; i++) { // more than there are slots
        assertFalse(client.compareAndSet(KEY, tooLong, EMPTY));
        assertFalse(client.compareAndDelete(KEY, tooLong));
        assertFalse(futures.compareAndSet(KEY, tooLong, EMPTY).get());
        assertFalse(futures.compareAndDelete(KEY, tooLong).get());
      }
      assertTrue(futures.compareAndSet(KEY, EMPTY, KEY).get());
      assertTrue(client.compareAndDelete(KEY, KEY));
      assertThrows(ErdaException.BadSize.class, () -> client.compareAndDelete(EMPTY, tooLong));
    }
  }

  private static byte[] number(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  private static int number(byte[] number) {
    return ByteBuffer.wrap(number).getInt();
  }
}
