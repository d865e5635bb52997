package io.erda.eval.peers.process;

import io.erda.eval.peers.store.PeerPlace;
import io.erda.eval.peers.store.PeerStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * A process with one store open and one thread that uses it. It does what it is told, a line each,
 * and answers with a line: how many operations, in how many nanoseconds.
 *
 * <p>Keys are 16 bytes and come in no order, neither when they are loaded nor afterwards, where
 * they are uniformly distributed. Every value names its key, and every get checks that.
 */
public final class PeerWorker {
  /** Operations between two looks at the clock. */
  private static final int STRIDE = 256;

  private final PeerStore store;
  private final long objects;
  private final int valueBytes;
  private long random;

  private PeerWorker(PeerStore store, long objects, int valueBytes) {
    this.store = store;
    this.objects = objects;
    this.valueBytes = valueBytes;
    this.random = System.nanoTime();
    SplittableRandom filling = new SplittableRandom(valueBytes);
    for (int at = 0; at < valueBytes; at += Long.BYTES) {
      store.value().putLong(at, filling.nextLong());
    }
  }

  /** Arguments: the adapter's class, location, objects, bytes of a value, whether pipelined. */
  public static void main(String[] arguments) throws Exception {
    PeerPlace place =
        new PeerPlace(
            arguments[1],
            Long.parseLong(arguments[2]),
            Integer.parseInt(arguments[3]),
            Boolean.parseBoolean(arguments[4]));
    Class<? extends PeerStore> adapter = Class.forName(arguments[0]).asSubclass(PeerStore.class);
    try (PeerStore store = adapter.getConstructor(PeerPlace.class).newInstance(place)) {
      System.out.println(PeerAnswer.open(store.durability()));
      new PeerWorker(store, place.objects(), place.valueBytes()).serve();
    } catch (ObjectLost e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
    // Threads that a store has left behind keep no process.
    System.exit(0);
  }

  private void serve() throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      System.out.println(
          switch (words[0]) {
            case "load" -> load();
            case "verify" -> verify();
            case "put" -> putFor(Long.parseLong(words[1]));
            case "get" -> getFor(Long.parseLong(words[1]));
            default -> throw new IllegalArgumentException(line);
          });
    }
  }

  private String load() {
    long startNs = System.nanoTime();
    for (long number = 0; number < objects; number++) {
      put(number);
    }
    store.awaitPuts();
    return done(objects, startNs);
  }

  private String verify() {
    long startNs = System.nanoTime();
    for (long number = 0; number < objects; number++) {
      get(number);
    }
    return done(objects, startNs);
  }

  private String putFor(long ns) {
    long startNs = System.nanoTime();
    long operations = 0;
    do {
      for (int i = 0; i < STRIDE; i++) {
        put(anyNumber());
      }
      operations += STRIDE;
    } while (System.nanoTime() - startNs < ns);
    store.awaitPuts();
    String done = done(operations, startNs);
    store.settle();
    return done;
  }

  private String getFor(long ns) {
    long startNs = System.nanoTime();
    long operations = 0;
    do {
      for (int i = 0; i < STRIDE; i++) {
        get(anyNumber());
      }
      operations += STRIDE;
    } while (System.nanoTime() - startNs < ns);
    return done(operations, startNs);
  }

  private static String done(long operations, long startNs) {
    return PeerAnswer.done(operations, System.nanoTime() - startNs);
  }

  private void put(long number) {
    setKey(number);
    store.value().putLong(0, number);
    store.put();
  }

  private void get(long number) {
    setKey(number);
    int length = store.get();
    if (length != valueBytes || store.got().getLong(0) != number) {
      throw new ObjectLost(
          "object "
              + number
              + (length < 0 ? " is not there" : " has another's value, or one of another length"));
    }
  }

  /** A store does not have what was put. The message says it all. */
  private static final class ObjectLost extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ObjectLost(String message) {
      super(message);
    }
  }

  /** The first half is a permutation of the numbers (the finalizer of MurmurHash3). */
  private void setKey(long number) {
    long mixed = number + 1;
    mixed = (mixed ^ (mixed >>> 33)) * 0xFF51AFD7ED558CCDL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
    store.key().putLong(0, mixed ^ (mixed >>> 33));
    store.key().putLong(Long.BYTES, number);
  }

  /** A linear congruential generator's high bits: it costs next to nothing beside a get. */
  private long anyNumber() {
    random = random * 6364136223846793005L + 1442695040888963407L;
    return Math.unsignedMultiplyHigh(random, objects);
  }
}
