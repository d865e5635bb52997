package io.erda.server.engine;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * One fault in one file.
 *
 * @param files what the directory holds with it
 */
record SingleFault(Kind kind, String file, String where, Map<String, byte[]> files) {
  enum Kind {
    BIT,
    WORD,
    PAGE,
    TRUNCATED,
    MISSING,
    SWAPPED,
    OLDER
  }

  private static final int PAGE = 4096;

  /**
   * @param shm files of {@code shm/}, of which one gets the fault
   */
  static SingleFault in(
      FaultedStore store,
      FaultedStore another,
      Map<String, byte[]> shm,
      boolean inShm,
      Random random) {
    Map<String, byte[]> files = new TreeMap<>(store.files());
    List<String> names = new ArrayList<>(files.keySet());
    if (inShm) {
      files.putAll(shm);
      names = List.copyOf(shm.keySet());
    }
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    String name = names.get(random.nextInt(names.size()));
    // Most places are in regions, most meaning is in tables.
    for (int i = 0; i < 3 && !inShm && name.startsWith("region-"); i++) {
      name = names.get(random.nextInt(names.size()));
    }
    byte[] bytes = files.get(name).clone();
    String where = "";
    if (bytes.length < Long.BYTES && kind.compareTo(Kind.MISSING) < 0) {
      kind = Kind.MISSING;
    }
    switch (kind) {
      case BIT -> {
        int at = place(name, bytes, random);
        int bit = random.nextInt(8);
        bytes[at] ^= (byte) (1 << bit);
        where = "byte " + at + ", bit " + bit;
        files.put(name, bytes);
      }
      case WORD -> {
        int at = place(name, bytes, random) & -Long.BYTES;
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        at = Math.min(at, bytes.length - Long.BYTES);
        long word =
            switch (random.nextInt(4)) {
              case 0 -> 0;
              case 1 -> -1;
              case 2 -> random.nextLong();
              default -> words.getLong(place(name, bytes, random) & -Long.BYTES);
            };
        words.putLong(at, word);
        where = "word %d = %016x".formatted(at, word);
        files.put(name, bytes);
      }
      case PAGE -> {
        int at = random.nextInt((bytes.length + PAGE - 1) / PAGE) * PAGE;
        int end = Math.min(bytes.length, at + PAGE);
        boolean zeros = random.nextInt(3) > 0;
        if (zeros) {
          Arrays.fill(bytes, at, end, (byte) 0);
        } else {
          byte[] garbage = new byte[end - at];
          random.nextBytes(garbage);
          System.arraycopy(garbage, 0, bytes, at, garbage.length);
        }
        where = (zeros ? "zeros" : "garbage") + " from " + at;
        files.put(name, bytes);
      }
      case TRUNCATED -> {
        int length = random.nextInt(4) == 0 ? 0 : random.nextInt(bytes.length);
        where = "to " + length + " of " + bytes.length;
        files.put(name, Arrays.copyOf(bytes, length));
      }
      case MISSING -> files.remove(name);
      case SWAPPED -> {
        if (another.files().containsKey(name) && random.nextBoolean()) {
          where = "with another store's";
          files.put(name, another.files().get(name));
        } else {
          String other = names.get(random.nextInt(names.size()));
          where = "with " + other;
          files.put(name, files.get(other));
          files.put(other, bytes);
        }
      }
      case OLDER -> {
        List<String> old = List.copyOf(store.older().keySet());
        if (!inShm) {
          name = old.get(random.nextInt(old.size()));
          files.put(name, store.older().get(name));
        } else {
          where = "zeros";
          files.put(name, new byte[bytes.length]);
        }
      }
    }
    return new SingleFault(kind, name, where, files);
  }

  /** Chooses a place, preferably in bytes that are used and not in empty space. */
  private static int place(String name, byte[] bytes, Random random) {
    int at = random.nextInt(bytes.length);
    for (int i = 0; i < 20 && bytes[at] == 0 && !name.startsWith("region-"); i++) {
      at = random.nextInt(bytes.length);
    }
    return at;
  }

  @Override
  public String toString() {
    return kind + " " + file + (where.isEmpty() ? "" : ", " + where);
  }
}
