package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.Ring;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The ring between two real threads, each with a separate mapping, as in two processes. This finds
 * errors that a test with one thread and a seed can't find. {@code -Derda.litmus.seconds=N} for
 * longer than 1.
 *
 * <p>It must find rings with deliberate defects: one that publishes the header before the payload,
 * and one that does not clear the word behind the record. On x86 it can't find a header that is
 * stored without release, or loaded without acquire. The machine keeps the order of two stores, and
 * of two loads, by itself; only the compiler could change it, and does not across the copy of a
 * segment. On a machine with weaker order (AArch64) this test would show both.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class RingRealMemoryTest {
  private static final long RING = QueueLayout.TO_RESPONDER_RING_OFFSET;
  private static final long CONSUMED = QueueLayout.TO_RESPONDER_CONSUMED_OFFSET;
  private static final long RUN_NS = Long.getLong("erda.litmus.seconds", 1) * 1_000_000_000L;

  /** A broken ring is found in well under this. */
  private static final long FOUND_NS = 30_000_000_000L;

  private static final int LENGTH_MAX = 600;

  @TempDir Path directory;

  private interface Producing {
    boolean offer(MemorySegment message, int length);
  }

  private interface ProducerOf {
    Producing over(MemorySegment queue);
  }

  @Test
  void everyMessageArrivesWholeAndInOrder() throws Exception {
    AtomicReference<String> wrong = new AtomicReference<>();
    long messages =
        run(
            queue -> {
              Ring.Producer producer = new Ring.Producer(queue, RING, CONSUMED);
              return (message, length) ->
                  producer.offer(Ring.TYPE_SEND, 0, message, 0, length) == Ring.FITS;
            },
            RUN_NS,
            wrong);
    assertEquals(null, wrong.get());
    System.out.println("RingRealMemoryTest: " + messages + " messages");
  }

  @Test
  void aHeaderBeforeItsPayloadIsFound() throws Exception {
    assertFound(Broken.HEADER_FIRST);
  }

  @Test
  void aWordBehindTheRecordThatIsNotClearedIsFound() throws Exception {
    assertFound(Broken.NOTHING_BEHIND);
  }

  private void assertFound(Broken how) throws Exception {
    AtomicReference<String> wrong = new AtomicReference<>();
    run(queue -> new BrokenProducer(queue, how), FOUND_NS, wrong);
    assertNotNull(wrong.get(), how + " was not found");
  }

  private enum Broken {
    HEADER_FIRST,
    NOTHING_BEHIND
  }

  /** {@link Ring.Producer} with one step wrong. */
  private static final class BrokenProducer implements Producing {
    private final MemorySegment queue;
    private final Broken how;
    private long tail;

    BrokenProducer(MemorySegment queue, Broken how) {
      this.queue = queue;
      this.how = how;
    }

    @Override
    public boolean offer(MemorySegment message, int length) {
      int index = (int) tail & QueueLayout.RING_BYTES - 1;
      int room = QueueLayout.RING_BYTES - index;
      int record = Ring.recordBytes(length);
      boolean wraps = record > room;
      long end = tail + (wraps ? room + record : record);
      long consumed = (long) QueueLayout.WORD.getAcquire(queue, CONSUMED);
      if (end + Ring.HEADER_BYTES - QueueLayout.RING_BYTES > consumed) {
        return false;
      }
      long at = RING + (wraps ? 0 : index);
      if (how != Broken.NOTHING_BEHIND) {
        queue.set(QueueLayout.LONG, RING + (end & QueueLayout.RING_BYTES - 1), 0);
      }
      if (how == Broken.HEADER_FIRST) {
        QueueLayout.WORD.setRelease(queue, at, Ring.header(Ring.TYPE_SEND, 0, length));
      }
      MemorySegment.copy(message, 0, queue, at + Ring.HEADER_BYTES, length);
      QueueLayout.WORD.setRelease(queue, at, Ring.header(Ring.TYPE_SEND, 0, length));
      if (wraps) {
        QueueLayout.WORD.setRelease(
            queue, RING + index, Ring.header(Ring.TYPE_PAD, 0, room - Ring.HEADER_BYTES));
      }
      tail = end;
      return true;
    }
  }

  /** Returns how many messages arrived; {@code wrong} receives a description of an error. */
  private long run(ProducerOf producerOf, long forNs, AtomicReference<String> wrong)
      throws Exception {
    try (Arena arena = Arena.ofShared()) {
      Producing producer = producerOf.over(map(arena));
      Ring.Consumer consumer = new Ring.Consumer(map(arena), RING, CONSUMED);
      long until = System.nanoTime() + forNs;
      Thread thread = new Thread(() -> produce(producer, until, wrong));
      thread.start();
      long messages = consume(consumer, until, wrong);
      thread.join();
      return messages;
    }
  }

  private MemorySegment map(Arena arena) throws IOException {
    Path file = directory.resolve("queue");
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, QueueLayout.BYTES, arena);
    }
  }

  private static int length(SplittableRandom random) {
    return 8 + random.nextInt(LENGTH_MAX - 8) & ~7;
  }

  private static void produce(Producing producer, long until, AtomicReference<String> wrong) {
    SplittableRandom random = new SplittableRandom(1);
    MemorySegment message = Arena.ofAuto().allocate(LENGTH_MAX, 8);
    for (long number = 1; wrong.get() == null && System.nanoTime() < until; number++) {
      int length = length(random);
      for (int at = 0; at < length; at += 8) {
        message.set(QueueLayout.LONG, at, number);
      }
      while (!producer.offer(message, length)) {
        if (wrong.get() != null || System.nanoTime() >= until) {
          return;
        }
        Thread.yield();
      }
    }
  }

  private static long consume(Ring.Consumer consumer, long until, AtomicReference<String> wrong) {
    SplittableRandom random = new SplittableRandom(1);
    MemorySegment message = Arena.ofAuto().allocate(QueueLayout.MESSAGE_BYTES_MAX, 8);
    long number = 0;
    while (System.nanoTime() < until) {
      long header = consumer.next();
      if (header == Ring.EMPTY) {
        Thread.onSpinWait();
        continue;
      }
      number++;
      int length = length(random);
      if (header == Ring.FAULT || Ring.length(header) != length) {
        wrong.set("message " + number + ": header " + Long.toHexString(header));
        return number;
      }
      consumer.copyTo(message, 0, length);
      for (int at = 0; at < length; at += 8) {
        if (message.get(QueueLayout.LONG, at) != number) {
          wrong.set(
              "message " + number + " has " + message.get(QueueLayout.LONG, at) + " at " + at);
          return number;
        }
      }
      consumer.consume(header);
    }
    return number;
  }
}
