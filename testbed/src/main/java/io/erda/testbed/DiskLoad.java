package io.erda.testbed;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * A client process that puts and gets keys of its own while the store's file system becomes full,
 * or fails, and keeps a ledger of them: what {@code testbed/full-disks} runs.
 *
 * <p>It ends when its input does. Then it reads every key, with a new client unless it is to use
 * the one it has, and compares. Each second it says on one line what it has seen until then; a line
 * that begins with {@code WRONG} is a lost or wrong value, or an exception of another kind than
 * {@link ErdaException}. Exit code 1 says that there was one.
 */
final class DiskLoad {
  private static final int KEYS = 400;
  private static final int BYTES_MAX = 3000;

  /** A value that a key may have, as the number of the put that stored it; 0: none. */
  private static final class Key {
    long acknowledged;

    /** Puts whose outcome is not known, the newest ones. Any of them may have taken effect. */
    long[] unknown = new long[0];

    boolean may(long number) {
      return number == acknowledged || Arrays.stream(unknown).anyMatch(each -> each == number);
    }
  }

  private final String uri;
  private final String name;
  private final SplittableRandom random;
  private final Key[] keys = new Key[KEYS];
  private final byte[] value = new byte[BYTES_MAX];
  private final PrintStream out = System.out;
  private ErdaClient client;
  private long number;
  private long puts;
  private long gets;
  private long full;
  private long readOnly;
  private long unknown;
  private long unavailable;
  private long getErrors;
  private String lastError = "";
  private boolean sameClient;
  private boolean wrong;

  private DiskLoad(String uri, String name, long seed) {
    this.uri = uri;
    this.name = name;
    this.random = new SplittableRandom(seed);
    Arrays.setAll(keys, i -> new Key());
  }

  /**
   * Runs it.
   *
   * @param arguments the URI of the store, a name that no other process has, a seed, and {@code
   *     same} where the file system stays failed
   */
  public static void main(String[] arguments) throws Exception {
    DiskLoad load = new DiskLoad(arguments[0], arguments[1], Long.parseLong(arguments[2]));
    load.sameClient = arguments.length > 3;
    load.run();
    System.exit(load.wrong ? 1 : 0);
  }

  private void run() throws IOException, InterruptedException {
    long nextNs = System.nanoTime();
    while (System.in.available() == 0) {
      step();
      if (System.nanoTime() - nextNs >= 0) {
        nextNs = System.nanoTime() + 1_000_000_000L;
        tell();
      }
    }
    check();
    tell();
  }

  private void tell() {
    out.printf(
        "%s puts=%d gets=%d full=%d readonly=%d unknown=%d unavailable=%d geterrors=%d %s%n",
        name, puts, gets, full, readOnly, unknown, unavailable, getErrors, lastError);
    out.flush();
  }

  private void step() throws InterruptedException {
    int index = random.nextInt(KEYS);
    if (random.nextInt(3) == 0) {
      get(index);
    } else {
      put(index, random.nextInt(8) == 0);
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

  private byte[] value(long of) {
    int length = 20 + (int) (of * 7919 % (BYTES_MAX - 20));
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

  private void put(int index, boolean delete) throws InterruptedException {
    Key key = keys[index];
    long of = ++number;
    try {
      if (delete) {
        of = 0;
        client().delete(key(index));
      } else {
        client().put(key(index), value(of));
      }
      puts++;
      key.acknowledged = of;
      key.unknown = new long[0];
    } catch (ErdaException.OutcomeUnknown e) {
      unknown++;
      lastError = e.getMessage();
      key.unknown = Arrays.copyOf(key.unknown, key.unknown.length + 1);
      key.unknown[key.unknown.length - 1] = of;
    } catch (ErdaException.Full e) {
      full++;
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
  }

  /** A loop of refusals would only keep the processor busy. */
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
    Key key = keys[index];
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
    for (int i = 0; i < KEYS; i++) {
      int index = i;
      checked(index);
    }
    close();
  }

  /** Where the file system stays failed, there may be nobody who can read a key. */
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

  /** A server may be about to open its store again. */
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
