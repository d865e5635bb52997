package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers and a writer at work at once on memory that they all map, on real cores. This tests the
 * properties of the machine that the simulation, which has one thread, assumes. {@code
 * -Derda.litmus.seconds=N} for longer than 1.
 *
 * <p>It finds a get that returns a version before the newest one that was acknowledged or seen (a
 * word that sometimes keeps the previous version is found at once). On x86 it can't find a version
 * word that is stored without release (the machine keeps stores in order), a READ whose loads are
 * not fenced from the next one's (and loads). It can't find an error that a get notices and
 * repeats, either: a copy that tears words passes.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class RealMemoryTest {
  private static final long RUN_NS = Long.getLong("erda.litmus.seconds", 1) * 1_000_000_000L;
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 24)
          .withSegmentBytes(1 << 20)
          .withCapacityBytes(1L << 32);
  private static final byte[] KEY = "the key".getBytes(UTF_8);

  @TempDir Path data;

  private final AtomicReference<String> wrong = new AtomicReference<>();

  private interface Work {
    void run(ErdaClient client, long untilNs);
  }

  private Thread start(String uri, Work work) {
    long until = System.nanoTime() + RUN_NS;
    Thread thread =
        new Thread(() -> {
          try (ErdaClient client = ErdaClient.connect(uri)) {
            work.run(client, until);
          } catch (Throwable e) {
            wrong.compareAndSet(null, e.toString());
          }
        });
    thread.start();
    return thread;
  }

  private boolean goesOn(long untilNs) {
    return wrong.get() == null && System.nanoTime() < untilNs;
  }

  /** Makes values of every length mod 8, so that the places of the log are of all kinds too. */
  private static byte[] value(long number) {
    byte[] value = new byte[8 + (int) (number % 1500)];
    Arrays.fill(value, (byte) number);
    ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).putLong(0, number);
    return value;
  }

  /**
   * The version word as one writer's and one reader's: neighbourhood and object are read while both
   * change.
   */
  @Test
  void aReaderSeesWholeValuesAndNeverOneBefore() throws Exception {
    AtomicLong begun = new AtomicLong();
    AtomicLong acknowledged = new AtomicLong();
    AtomicLong reads = new AtomicLong();
    try (ErdaServer server = ErdaServer.start(data, SMALL.withBuckets(64))) {
      try (ErdaClient client = ErdaClient.connect(server.uri())) {
        client.put(KEY, value(0));
      }
      Thread writer =
          start(
              server.uri(),
              (client, until) -> {
                for (long number = 1; goesOn(until); number++) {
                  begun.set(number);
                  client.put(KEY, value(number));
                  acknowledged.set(number);
                }
              });
      Thread reader =
          start(
              server.uri(),
              (client, until) -> {
                long seen = 0;
                while (goesOn(until)) {
                  long least = Math.max(seen, acknowledged.get());
                  byte[] value = client.get(KEY);
                  long most = begun.get();
                  seen = check(value, least, most);
                  reads.incrementAndGet();
                }
              });
      writer.join();
      reader.join();
    }
    assertEquals(null, wrong.get());
    assertTrue(acknowledged.get() > 0 && reads.get() > 0);
    System.out.println(
        "RealMemoryTest: " + reads + " reads during " + acknowledged + " puts of their key");
  }

  private long check(byte[] value, long least, long most) {
    if (value == null) {
      wrong.set("absent");
      return most;
    }
    long number = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    if (number < least || number > most) {
      wrong.set("read " + number + ", put were " + least + " to " + most);
    } else if (!Arrays.equals(value, value(number))) {
      wrong.set("value " + number + " is torn");
    }
    return number;
  }
}
