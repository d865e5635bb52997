package io.erda.eval.floor;

import io.erda.client.ErdaClient;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.ProcessException;
import io.erda.logstore.ObjectLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Blocking gets of a store, and for comparison the least work of a get, on the same files with the
 * same keys. A get may depend on the previous value, as for a caller that needs one value to know
 * the next key. The store must not be written while the floor is measured. One thread.
 */
public final class BesideFloor implements AutoCloseable {
  /** A bit that changes a key's last byte, a digit, into another character. */
  private static final long NOT_A_DIGIT = 1L << 63;

  private final ErdaClient client;
  private final FloorReader floor;
  private final long[] floorKeys;
  private final int objectBytes;
  private final int valueBytes;
  private final long[] words;
  private final MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
  private final MemorySegment into;

  private BesideFloor(
      ErdaClient client, FloorReader.Layout layout, MemorySegment[] keys, int valueBytes)
      throws IOException {
    this.client = client;
    this.objectBytes = ObjectLayout.bytes(Dataset.KEY_BYTES, valueBytes);
    this.floor = FloorReader.open(layout, objectBytes);
    this.floorKeys = layout.keyWords();
    this.valueBytes = valueBytes;
    this.into = Arena.ofAuto().allocate(valueBytes, 8);
    this.words = new long[2 * keys.length];
    for (int i = 0; i < keys.length; i++) {
      words[2 * i] = keys[i].get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
      words[2 * i + 1] = keys[i].get(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES);
    }
  }

  /**
   * Finds the places of the store's objects, starts a server, and connects.
   *
   * @param keys to get, of existing objects
   * @param serverOptions of the new server
   */
  public static BesideFloor open(
      ServedStore store, MemorySegment[] keys, int valueBytes, String... serverOptions) {
    FloorReader.Layout layout = look(store, keys, serverOptions);
    ErdaClient client = store.connect();
    try {
      return new BesideFloor(client, layout, keys, valueBytes);
    } catch (IOException e) {
      client.close();
      throw new ProcessException("can't map the store's files: " + e.getMessage(), e);
    }
  }

  /** Stops the server, finds the places of the objects, and starts another server. */
  public static FloorReader.Layout look(
      ServedStore store, MemorySegment[] keys, String... serverOptions) {
    store.server().stop();
    FloorReader.Layout layout = layout(store.data(), keys);
    store.startAgain(serverOptions);
    return layout;
  }

  private static FloorReader.Layout layout(Path data, MemorySegment[] keys) {
    try {
      return FloorReader.Layout.of(data, keys);
    } catch (IOException e) {
      throw new ProcessException("can't look into the store: " + e.getMessage(), e);
    }
  }

  /** Zero, in a way that the compiler does not know. */
  private static long unknownZero() {
    return Long.parseLong("0");
  }

  /** The connection of the gets. */
  public ErdaClient client() {
    return client;
  }

  /**
   * Nanoseconds of the floor for an object.
   *
   * @param depends whether each key word depends on the previous value
   */
  public double floorNs(boolean depends) {
    long nothing = unknownZero();
    long before = 0;
    long startNs = System.nanoTime();
    for (long keyWord : floorKeys) {
      if (floor.read(keyWord ^ (before & nothing)) != objectBytes) {
        throw new ProcessException(
            "the floor did not find the object of key word " + Long.toHexString(keyWord));
      }
      if (depends) {
        before = floor.lastWord();
      }
    }
    return (System.nanoTime() - startNs) / (double) floorKeys.length;
  }

  /**
   * Nanoseconds of a get, for a caller that stores each key in the same place.
   *
   * @param depends whether each key depends on the previous value
   */
  public double getNs(boolean depends) {
    long nothing = unknownZero();
    long before = 0;
    long startNs = System.nanoTime();
    for (int i = 0; i < words.length; i += 2) {
      key.set(ValueLayout.JAVA_LONG, 0, words[i] ^ (before & nothing));
      key.set(ValueLayout.JAVA_LONG, Long.BYTES, words[i + 1]);
      if (client.get(key, into) != valueBytes) {
        throw new ProcessException("a get did not find its object");
      }
      if (depends) {
        before = into.get(ValueLayout.JAVA_LONG, valueBytes - Long.BYTES);
      }
    }
    return (System.nanoTime() - startNs) / (words.length / 2.0);
  }

  /** Nanoseconds of a get of an absent key, with independent keys. */
  public double missNs() {
    long startNs = System.nanoTime();
    for (int i = 0; i < words.length; i += 2) {
      key.set(ValueLayout.JAVA_LONG, 0, words[i]);
      key.set(ValueLayout.JAVA_LONG, Long.BYTES, words[i + 1] ^ NOT_A_DIGIT);
      if (client.get(key, into) >= 0) {
        throw new ProcessException("a get found what was never put");
      }
    }
    return (System.nanoTime() - startNs) / (words.length / 2.0);
  }

  @Override
  public void close() {
    floor.close();
    client.close();
  }
}
