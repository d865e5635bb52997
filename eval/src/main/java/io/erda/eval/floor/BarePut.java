package io.erda.eval.floor;

import io.erda.logstore.ObjectLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * The least work of a put whose caller waits until another thread has seen it: the value is copied
 * after the previous one, its CRC32C is computed, and one word goes there and back, between two
 * threads of one process that do nothing else. No key, no table, no lease, no message. One thread;
 * closing ends the other one.
 */
final class BarePut implements AutoCloseable {
  /** More than the caches hold, so that each value is written to uncached memory. */
  private static final long LOG_BYTES = 64L << 20;

  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
  private static final long ASKED = 0;
  private static final long ANSWERED = 256;
  private static final long END = -1;
  private static final int KEY_BYTES = 16;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment words = arena.allocate(512, 256);
  private final MemorySegment log = arena.allocate(LOG_BYTES, 64).fill((byte) 0);
  private final MemorySegment value;
  private final ByteBuffer bytes;
  private final int objectBytes;
  private final CRC32C checksum = new CRC32C();
  private final Thread other = new Thread(this::answer, "bare-put");
  private long place;
  private long number;

  BarePut(int valueBytes) {
    objectBytes = ObjectLayout.padded(ObjectLayout.bytes(KEY_BYTES, valueBytes));
    value = arena.allocate(objectBytes, 8);
    byte[] random = new byte[objectBytes];
    new SplittableRandom(1).nextBytes(random);
    MemorySegment.copy(random, 0, value, ValueLayout.JAVA_BYTE, 0, objectBytes);
    bytes = log.asByteBuffer();
    other.setDaemon(true);
    other.start();
  }

  private void answer() {
    long seen = 0;
    while (seen != END) {
      long asked = (long) WORD.getAcquire(words, ASKED);
      if (asked == seen) {
        Thread.onSpinWait();
      } else {
        seen = asked;
        WORD.setRelease(words, ANSWERED, seen);
      }
    }
  }

  /** Mean time of these puts, nanoseconds. */
  double meanNs(int puts) {
    long beganNs = System.nanoTime();
    for (int i = 0; i < puts; i++) {
      if (place + objectBytes > LOG_BYTES) {
        place = 0;
      }
      MemorySegment.copy(value, 0, log, place, objectBytes);
      checksum.reset();
      checksum.update(bytes.limit((int) place + objectBytes).position((int) place));
      value.set(ValueLayout.JAVA_LONG, 0, checksum.getValue());
      place += objectBytes;
      WORD.setRelease(words, ASKED, ++number);
      while ((long) WORD.getAcquire(words, ANSWERED) != number) {
        Thread.onSpinWait();
      }
    }
    return (System.nanoTime() - beganNs) / (double) puts;
  }

  @Override
  public void close() {
    WORD.setRelease(words, ASKED, END);
    boolean interrupted = false;
    while (other.isAlive()) {
      try {
        other.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    arena.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
