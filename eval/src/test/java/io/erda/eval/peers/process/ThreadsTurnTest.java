package io.erda.eval.peers.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.load.Zipfian;
import io.erda.eval.peers.process.ClientThread.ThreadFailed;
import io.erda.eval.peers.process.ThreadsTurn.Counted;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Turns of several threads, each of which reads the clock after some operations: it is its step.
 */
@Timeout(60)
class ThreadsTurnTest {
  private static final int OBJECTS = 1_000;
  private static final int STRIDE = 64;
  private static final long NS = 1_000_000;

  /** So many strides of all threads together make a turn. */
  private static final long TICK_NS = NS / 1_000;

  private final SharedHeapStore store = new SharedHeapStore();
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - NS / 2);
  private final ThreadsTurn turn =
      new ThreadsTurn(store, OBJECTS, SharedHeapStore.VALUE_BYTES, () -> clock.addAndGet(TICK_NS));

  @AfterEach
  void close() {
    turn.close();
    store.others.forEach(other -> assertTrue(other.isClosed));
  }

  private void load() {
    LongStream.range(0, OBJECTS).forEach(number -> store.map.put(number, number));
  }

  private double share(long number) {
    double all = store.asked.values().stream().mapToLong(LongAdder::sum).sum();
    return store.asked.getOrDefault(number, new LongAdder()).sum() / all;
  }

  private long gets() {
    return store.others.stream().mapToLong(other -> other.gets.sum()).sum();
  }

  private long puts() {
    return store.others.stream().mapToLong(other -> other.puts.sum()).sum();
  }

  @Test
  void everyThreadWorksAndKeepsItsAdapter() throws Exception {
    load();
    for (int turns = 1; turns <= 20; turns++) {
      turn.run(3, 50, KeyChoice.UNIFORM, NS);
    }
    assertEquals(3, store.others.size());
    store.others.forEach(
        other -> assertTrue(other.gets.sum() > 0 && other.puts.sum() > 0, "a thread did nothing"));
    turn.run(1, 50, KeyChoice.UNIFORM, NS);
    assertEquals(3, store.others.size());
    assertEquals(0, store.gets.sum() + store.puts.sum(), "the adapter of the loading thread");
  }

  @Test
  void theFirstPartIsNotCounted() throws Exception {
    load();
    Counted counted = turn.run(1, 100, KeyChoice.UNIFORM, NS);
    assertEquals(0.7 * NS, counted.ns(), 2 * TICK_NS);
    assertEquals(0.7 * NS / TICK_NS * STRIDE, counted.operations(), 2 * STRIDE);
    assertEquals(NS / TICK_NS * STRIDE, gets(), 2 * STRIDE);
  }

  @Test
  void soManyAreGets() throws Exception {
    load();
    turn.run(2, 95, KeyChoice.UNIFORM, NS);
    assertEquals(0.95, gets() / (double) (gets() + puts()), 0.01);
    assertTrue(store.asked.size() > OBJECTS * 9 / 10, "nearly all objects are used");
  }

  @Test
  void allOrNoneAreGets() throws Exception {
    load();
    turn.run(2, 100, KeyChoice.UNIFORM, NS);
    assertEquals(0, puts());
    long gets = gets();
    turn.run(2, 0, KeyChoice.UNIFORM, NS);
    assertEquals(gets, gets());
    assertTrue(puts() > 0);
  }

  @Test
  void zipfianKeysHaveTheirShares() throws Exception {
    load();
    turn.run(2, 50, KeyChoice.ZIPFIAN, NS);
    Zipfian zipfian = new Zipfian(OBJECTS);
    assertEquals(zipfian.share(0), share(zipfian.number(0)), 0.01);
    assertEquals(zipfian.share(1), share(zipfian.number(1)), 0.01);
  }

  @Test
  void aHotKeyIsOne() throws Exception {
    load();
    turn.run(2, 50, KeyChoice.HOT, NS);
    assertEquals(1, share(0));
  }

  @Test
  void aMissingObjectFailsTheTurn() {
    load();
    store.map.remove(7L);
    ThreadFailed failed =
        assertThrows(ThreadFailed.class, () -> turn.run(2, 100, KeyChoice.UNIFORM, NS));
    assertTrue(
        failed.getMessage().matches("client thread [01] failed: object 7 is not there"),
        failed::getMessage);
  }

  /** The others don't go on until the turn is over. */
  @Test
  void oneThreadThatFailsEndsTheTurn() {
    assertThrows(ThreadFailed.class, () -> turn.run(4, 100, KeyChoice.UNIFORM, Long.MAX_VALUE / 4));
  }

  @Test
  void aStoreForOneThreadIsToldApart() {
    ThreadsTurn one = new ThreadsTurn(new HeapStore(), OBJECTS, HeapStore.VALUE_BYTES, () -> 0);
    ThreadFailed failed =
        assertThrows(ThreadFailed.class, () -> one.run(2, 100, KeyChoice.UNIFORM, NS));
    assertTrue(failed.getMessage().endsWith("HeapStore is for one thread"), failed::getMessage);
  }

  @Test
  void eachObjectIsInsertedOnce() throws Exception {
    turn.insert(2, OBJECTS / 2, Long.MAX_VALUE / 4);
    assertEquals(OBJECTS / 2, store.map.size());
    Counted counted = turn.insert(3, OBJECTS / 2, Long.MAX_VALUE / 4);
    assertEquals(OBJECTS, store.map.size());
    assertEquals(OBJECTS, puts());
    assertTrue(
        counted.operations() > 0 && counted.operations() <= OBJECTS * 0.4, counted::toString);
    store.asked.forEach((number, times) -> assertEquals(1, times.sum(), "object " + number));
  }

  @Test
  void insertsEndWithTheirTime() throws Exception {
    turn.insert(2, OBJECTS, 4 * TICK_NS);
    int inserted = store.map.size();
    assertTrue(inserted > 0 && inserted < OBJECTS, "inserted: " + inserted);
    turn.insert(2, OBJECTS, NS);
    assertEquals(OBJECTS, store.map.size());
    assertEquals(OBJECTS, puts());
  }
}
