package io.erda.rdma.rings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.DeviceContract;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The ring against a model, and against words that can't be. */
final class RingTest {
  private static final long RING = QueueLayout.TO_RESPONDER_RING_OFFSET;
  private static final long CONSUMED = QueueLayout.TO_RESPONDER_CONSUMED_OFFSET;

  private final MemorySegment queue = Arena.ofAuto().allocate(QueueLayout.BYTES, 128);
  private final Ring.Producer producer = new Ring.Producer(queue, RING, CONSUMED);
  private final Ring.Consumer consumer = new Ring.Consumer(queue, RING, CONSUMED);

  private void headerIs(int expected, int type, int length) {
    queue.set(QueueLayout.LONG, RING, Ring.header(type, 1, length));
    long found = new Ring.Consumer(queue, RING, CONSUMED).next();
    assertEquals(expected, found == Ring.FAULT ? -1 : 1, "type " + type + ", length " + length);
  }

  @Test
  void headersThatCantBeAreFaults() {
    headerIs(1, Ring.TYPE_SEND, 0);
    headerIs(1, Ring.TYPE_SEND, QueueLayout.MESSAGE_BYTES_MAX);
    headerIs(-1, Ring.TYPE_SEND, QueueLayout.MESSAGE_BYTES_MAX + 1);
    headerIs(-1, Ring.TYPE_SEND, 0xff_ffff);
    headerIs(1, Ring.TYPE_WRITE_IMM, 4);
    headerIs(-1, Ring.TYPE_WRITE_IMM, 8);
    headerIs(-1, Ring.TYPE_PAD, QueueLayout.RING_BYTES - Ring.HEADER_BYTES);
    headerIs(-1, Ring.TYPE_PAD, 0);
    headerIs(-1, 0, 9);
    headerIs(-1, 4, 8);
    headerIs(-1, 255, 8);
  }

  @Test
  void aRecordPastTheEndOfTheRingIsAFault() {
    int head = consumeTo(QueueLayout.RING_BYTES - 64);
    int room = QueueLayout.RING_BYTES - head;
    for (int length : new int[] {room - 8, room - 7, room, 4000}) {
      queue.set(QueueLayout.LONG, RING + head, Ring.header(Ring.TYPE_SEND, 0, length));
      assertEquals(length > room - 8, consumer.next() == Ring.FAULT, "length " + length);
    }
    queue.set(QueueLayout.LONG, RING + head, Ring.header(Ring.TYPE_PAD, 0, room - 16));
    assertEquals(Ring.FAULT, consumer.next());
    queue.set(QueueLayout.LONG, RING + head, Ring.header(Ring.TYPE_PAD, 0, room - 8));
    queue.set(QueueLayout.LONG, RING, Ring.header(Ring.TYPE_PAD, 0, QueueLayout.RING_BYTES - 8));
    assertEquals(Ring.FAULT, consumer.next(), "padding after padding");
  }

  private int consumeTo(int place) {
    MemorySegment message = Arena.ofAuto().allocate(64);
    while (consumer.position() < place) {
      assertEquals(Ring.FITS, producer.offer(Ring.TYPE_SEND, 0, message, 0, 56));
      consumer.consume(consumer.next());
    }
    return (int) consumer.position();
  }

  @Test
  void aConsumersPositionThatCantBeIsAFault() {
    for (long position : new long[] {-8, 8, 1 << 20, Long.MIN_VALUE, Long.MAX_VALUE, 4}) {
      MemorySegment fresh = Arena.ofAuto().allocate(QueueLayout.BYTES, 128);
      Ring.Producer toFill = new Ring.Producer(fresh, RING, CONSUMED);
      MemorySegment message = Arena.ofAuto().allocate(QueueLayout.MESSAGE_BYTES_MAX);
      int offered = 0;
      while (toFill.offer(Ring.TYPE_SEND, 0, message, 0, QueueLayout.MESSAGE_BYTES_MAX)
          == Ring.FITS) {
        assertTrue(++offered < 100);
      }
      // 8 is a position within what was published; no record ends there, but a producer can't know
      // and needn't.
      fresh.set(QueueLayout.LONG, CONSUMED, position);
      assertEquals(
          position == 8 ? Ring.EMPTY : Ring.FAULT,
          toFill.offer(Ring.TYPE_SEND, 0, message, 0, QueueLayout.MESSAGE_BYTES_MAX));
    }
  }

  @Test
  void anEmptyRingTakesTheLongestMessageWhereverItStands() {
    MemorySegment message = Arena.ofAuto().allocate(QueueLayout.MESSAGE_BYTES_MAX);
    for (int i = 0; i < 20_000; i++) {
      int length = i % 2 == 0 ? QueueLayout.MESSAGE_BYTES_MAX : i % 1000;
      assertEquals(
          Ring.FITS, producer.offer(Ring.TYPE_SEND, 0, message, 0, length), "message " + i);
      consumer.consume(consumer.next());
    }
  }

  @Test
  void whatWentInComesOut() {
    long seed = DeviceContract.seed();
    Random random = new Random(seed);
    ArrayDeque<byte[]> model = new ArrayDeque<>();
    byte[] out = new byte[QueueLayout.MESSAGE_BYTES_MAX];
    int full = 0;
    for (int i = 0; i < 100_000; i++) {
      if (random.nextBoolean()) {
        byte[] message =
            new byte[random.nextInt(100) == 0 ? random.nextInt(16_385) : random.nextInt(300)];
        random.nextBytes(message);
        if (producer.offer(Ring.TYPE_SEND, i, MemorySegment.ofArray(message), 0, message.length)
            == Ring.FITS) {
          model.add(message);
        } else {
          full++;
        }
      }
      // Emptied more slowly than filled, and now and then at once.
      int takes = random.nextInt(300) == 0 ? Integer.MAX_VALUE : random.nextInt(4) == 0 ? 1 : 0;
      for (; takes > 0; takes--) {
        long header = consumer.next();
        assertEquals(header == Ring.EMPTY, model.isEmpty(), "seed " + seed);
        if (header == Ring.EMPTY) {
          break;
        }
        byte[] expected = model.remove();
        assertEquals(expected.length, Ring.length(header), "seed " + seed);
        consumer.copyTo(MemorySegment.ofArray(out), 0, expected.length);
        MemorySegment found = MemorySegment.ofArray(out).asSlice(0, expected.length);
        assertEquals(-1, found.mismatch(MemorySegment.ofArray(expected)), "seed " + seed);
        assertEquals(expected.length > 0, found.byteSize() > 0);
        consumer.consume(header);
      }
    }
    assertTrue(full > 0, "never full; seed " + seed);
    assertEquals(0, queue.get(ValueLayout.JAVA_LONG, 0), "nothing outside the ring");
  }
}
