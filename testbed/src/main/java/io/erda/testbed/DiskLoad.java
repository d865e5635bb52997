package io.erda.testbed;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/**
 * The client process of {@code testbed/full-disks}: puts, deletes and gets its own keys while the
 * store's file system becomes full, or fails, and checks them.
 *
 * <p>It overwrites a fixed set of keys, which needs no further room, and executes the lines of its
 * input:
 *
 * <ul>
 *   <li>{@code grow N}: it puts N further keys with long values, so that the store needs further
 *       files. A key that is refused must stay absent, and is tried again
 *   <li>{@code shrink}: it deletes all further keys
 *   <li>{@code end}, or the end of the input: it reads every key, usually with a new client,
 *       compares, and ends
 * </ul>
 *
 * <p>Each half second it prints its counts on one line. A line that begins with {@code WRONG}
 * reports a lost or wrong value, or an exception other than an {@link ErdaException}. The exit code
 * is 1 if there was one.
 */
final class DiskLoad {
  private static final int KEYS = 400;
  private static final int BYTES_MAX = 3_000;
  private static final int LONG_BYTES_MAX = 16_000;
  private static final long TELL_NS = 500_000_000L;

  /** The possible values of a key, as the numbers of the puts that stored them; 0: none. */
  private static final class Key {
    long acknowledged;

    /** Recent puts whose outcome is unknown. Any of them may have taken effect. */
    long[] unknown = new long[0];

    boolean may(long number) {
      return number == acknowledged || Arrays.stream(unknown).anyMatch(each -> each == number);
    }

    boolean isAbsent() {
      return acknowledged == 0 && unknown.length == 0;
    }
  }

  private final String uri;
  private final String name;
  private final SplittableRandom random;
  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();

  /** The fixed set, followed by the further keys. The last of these may still be absent. */
  private final List<Key> keys = new ArrayList<>();

  private final byte[] value = new byte[LONG_BYTES_MAX];
  private final PrintStream out = System.out;
  private ErdaClient client;
  private int obeyed;
  private boolean ending;
  private boolean shrinking;

  /** Number of further keys that are still to be put. */
  private long missing;

  private long number;
  private long puts;
  private long gets;
  private long full;

  /** Number of puts refused for lack of something other than disk space. */
  private long otherwiseFull;

  private long readOnly;
  private long unknown;
  private long unavailable;
  private long getErrors;
  private String lastError = "";
  private boolean sameClient;
  private boolean gently;
  private boolean wrong;

  private DiskLoad(String uri, String name, long seed) {
    this.uri = uri;
    this.name = name;
    this.random = new SplittableRandom(seed);
    for (int i = 0; i < KEYS; i++) {
      keys.add(new Key());
    }
  }

  /**
   * Runs the load.
   *
   * @param arguments the URI of the store, a name that no other process has, a seed, {@code same}
   *     when the file system stays failed, and {@code gently} to leave the processor to others
   */
  public static void main(String[] arguments) throws Exception {
    DiskLoad load = new DiskLoad(arguments[0], arguments[1], Long.parseLong(arguments[2]));
    List<String> words = List.of(arguments);
    load.sameClient = words.contains("same");
    load.gently = words.contains("gently");
    Thread reader = new Thread(load::readLines, "lines");
    reader.setDaemon(true);
    reader.start();
    load.run();
    System.exit(load.wrong ? 1 : 0);
  }

  private void readLines() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
      in.lines().forEach(lines::add);
    } catch (IOException | UncheckedIOException e) {
      // A failed read is an end, too.
    }
    lines.add("end");
  }

  private void run() throws InterruptedException {
    long nextNs = System.nanoTime();
    while (!ending) {
      step();
      if (gently) {
        Thread.sleep(2);
      }
      for (String line = lines.poll(); line != null; line = lines.poll()) {
        obey(line);
      }
      if (System.nanoTime() - nextNs >= 0) {
        nextNs = System.nanoTime() + TELL_NS;
        tell();
      }
    }
    check();
    tell();
  }

  private void obey(String line) {
    obeyed++;
    shrinking = line.equals("shrink");
    ending |= line.equals("end");
    missing = line.startsWith("grow ") ? Long.parseLong(line.substring("grow ".length())) : 0;
  }

  private void tell() {
    out.printf(
        "%s obeyed=%d puts=%d gets=%d missing=%d further=%d full=%d otherwisefull=%d readonly=%d"
            + " unknown=%d unavailable=%d geterrors=%d %s%n",
        name,
        obeyed,
        puts,
        gets,
        missing,
        keys.size() - KEYS,
        full,
        otherwiseFull,
        readOnly,
        unknown,
        unavailable,
        getErrors,
        lastError);
    out.flush();
  }

  private void step() throws InterruptedException {
    if (random.nextInt(3) == 0) {
      get(random.nextInt(keys.size()));
    } else if (missing > 0 && random.nextBoolean()) {
      grow();
    } else if (shrinking && keys.size() > KEYS) {
      shrink();
    } else {
      put(random.nextInt(KEYS), random.nextInt(8) == 0);
    }
  }

  private void grow() throws InterruptedException {
    if (keys.size() == KEYS || !keys.getLast().isAbsent()) {
      keys.add(new Key());
    }
    if (put(keys.size() - 1, false)) {
      missing--;
    }
  }

  private void shrink() throws InterruptedException {
    if (put(keys.size() - 1, true)) {
      keys.removeLast();
    }
  }

  private ErdaClient client() {
    if (client == null) {
      client = ErdaClient.connect(uri);
    }
    return client;
  }

  private byte[] key(int index) {
    return (name + "-" + index).getBytes(StandardCharsets.UTF_8);
  }

  /** The value of a put; even numbers have short values. */
  private byte[] value(long of) {
    int bytesMax = of % 2 == 0 ? BYTES_MAX : LONG_BYTES_MAX;
    int length = 20 + (int) (of * 7919 % (bytesMax - 20));
    byte[] text = Long.toString(of).getBytes(StandardCharsets.US_ASCII);
    Arrays.fill(value, 0, length, (byte) ('a' + of % 26));
    System.arraycopy(text, 0, value, 0, text.length);
    value[text.length] = ' ';
    return Arrays.copyOf(value, length);
  }

  private long numberIn(byte[] got) {
    if (got == null) {
      return 0;
    }
    int end = 0;
    while (end < got.length && got[end] >= '0' && got[end] <= '9') {
      end++;
    }
    long of = end == 0 ? -1 : Long.parseLong(new String(got, 0, end, StandardCharsets.US_ASCII));
    return of > 0 && Arrays.equals(got, value(of)) ? of : -1;
  }

  /** Puts or deletes a key. Returns whether it was acknowledged. */
  private boolean put(int index, boolean delete) throws InterruptedException {
    Key key = keys.get(index);
    number += 2;
    long of = delete ? 0 : index < KEYS ? number : number + 1;
    try {
      if (delete) {
        client().delete(key(index));
      } else {
        client().put(key(index), value(of));
      }
      puts++;
      key.acknowledged = of;
      key.unknown = new long[0];
      return true;
    } catch (ErdaException.OutcomeUnknown e) {
      unknown++;
      lastError = e.getMessage();
      key.unknown = Arrays.copyOf(key.unknown, key.unknown.length + 1);
      key.unknown[key.unknown.length - 1] = of;
    } catch (ErdaException.Full e) {
      if (e.what() == ErdaException.Full.What.DISK) {
        full++;
      } else {
        otherwiseFull++;
      }
      refused(e);
    } catch (ErdaException.ReadOnly e) {
      readOnly++;
      refused(e);
    } catch (ErdaException e) {
      unavailable++;
      refused(e);
    } catch (RuntimeException | Error e) {
      wrong((delete ? "delete" : "put") + " threw " + e, e);
    }
    return false;
  }

  /** Pauses after a refusal, because a loop of refusals would only keep the processor busy. */
  private void refused(ErdaException e) throws InterruptedException {
    lastError = e.getMessage();
    Thread.sleep(2);
  }

  private void get(int index) throws InterruptedException {
    try {
      compare(index, client().get(key(index)));
      gets++;
    } catch (ErdaException e) {
      getErrors++;
      refused(e);
    } catch (RuntimeException | Error e) {
      wrong("get threw " + e, e);
    }
  }

  private void compare(int index, byte[] got) {
    Key key = keys.get(index);
    long of = numberIn(got);
    if (!key.may(of)) {
      wrong(
          "key %d is %d (%s), must be %d or one of %s"
              .formatted(
                  index,
                  of,
                  got == null ? "absent" : got.length + " bytes",
                  key.acknowledged,
                  Arrays.toString(key.unknown)),
          null);
    }
  }

  private void check() throws InterruptedException {
    if (!sameClient) {
      close();
    }
    for (int i = 0; i < keys.size(); i++) {
      int index = i;
      checked(index);
    }
    close();
  }

  /** Checks a key. When the file system stays failed, keys may be unreadable. */
  private void checked(int index) throws InterruptedException {
    try {
      compare(index, again(() -> client().get(key(index))));
    } catch (ErdaException e) {
      if (!sameClient) {
        throw e;
      }
      getErrors++;
    }
  }

  /** Repeats a call while a server may be opening its store again. */
  private <T> T again(Supplier<T> call) throws InterruptedException {
    for (int tries = 0; ; tries++) {
      try {
        return call.get();
      } catch (ErdaException e) {
        if (sameClient || tries == 20) {
          throw e;
        }
        Thread.sleep(500);
      }
    }
  }

  private void close() {
    if (client != null) {
      try {
        client.close();
      } catch (RuntimeException | Error e) {
        wrong("close threw " + e, e);
      }
      client = null;
    }
  }

  private void wrong(String what, Throwable e) {
    wrong = true;
    out.println("WRONG " + name + ": " + what);
    if (e != null) {
      e.printStackTrace(out);
    }
    out.flush();
  }
}
