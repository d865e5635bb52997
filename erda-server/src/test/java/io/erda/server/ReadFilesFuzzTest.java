package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.fuzz.Fuzz;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client that only reads, over a store in which one file has arbitrary bytes: superblock, root,
 * region table, region, table, the record of a stop. It refuses the store, or each get and each key
 * of an iteration ends with a value that was put, with no value, or with an error of one line.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class ReadFilesFuzzTest {
  private static final int KEYS = 12;
  private static final int PAGE_BYTES = 4096;
  private static final int SUPERBLOCK_COPY_BYTES = 120;

  private static final ServerOptions TINY =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(1 << 13)
          .withCapacityBytes(1 << 18)
          .withBuckets(1 << 8);

  private static final ClientOptions QUICK =
      ClientOptions.DEFAULT
          .withConnectTimeout(Duration.ofMillis(20))
          .withOperationTimeout(Duration.ofMillis(20));

  @TempDir private Path data;

  private static byte[] key(int i) {
    return ("key" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    byte[] value = new byte[20 + 37 * i];
    Arrays.fill(value, (byte) (i + 1));
    return value;
  }

  /** Requires that a value is that of one of several puts of a key. */
  private static void requirePut(byte[] key, byte[] found) {
    int i = Integer.parseInt(new String(key, UTF_8).substring("key".length()));
    assertArrayEquals(value(i), found, "key" + i);
  }

  private void create() {
    try (ErdaStore store = ErdaStore.open(data, TINY);
        ErdaClient client = store.client()) {
      for (int i = 0; i < KEYS; i++) {
        client.put(key(i), value(i));
      }
      client.delete(key(4));
    }
  }

  @Test
  void anyFileOfAStore() throws IOException {
    create();
    List<Path> files;
    try (Stream<Path> all = Files.list(data)) {
      files =
          all.filter(Files::isRegularFile)
              .filter(file -> !file.getFileName().toString().equals("lock"))
              .sorted()
              .toList();
    }
    List<byte[]> seeds = new ArrayList<>();
    List<byte[]> whole = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      byte[] bytes = Files.readAllBytes(files.get(i));
      whole.add(bytes);
      if (bytes.length > 0) {
        // The part of a file that is in use is mutated; the file's number follows.
        byte[] seed = Arrays.copyOf(bytes, Math.min(bytes.length, 2 * PAGE_BYTES) + 1);
        seed[seed.length - 1] = (byte) i;
        seeds.add(seed);
      }
    }
    Fuzz.run(
        ReadFilesFuzzTest.class,
        seeds,
        (input, random) -> {
          if (input.length == 0) {
            return;
          }
          int which = Math.floorMod(input[input.length - 1], files.size());
          Path path = files.get(which);
          byte[] file = whole.get(which).clone();
          System.arraycopy(input, 0, file, 0, Math.min(input.length - 1, file.length));
          if (random.nextInt(8) == 0) {
            file = Arrays.copyOf(file, random.nextInt(2 * file.length + 1));
          } else if (random.nextBoolean()) {
            fixChecksums(path.getFileName().toString(), file);
          }
          replace(path, file);
          Path root = data.resolve(Root.FILE);
          boolean asOfAnotherBoot = random.nextBoolean() && !path.equals(root);
          if (asOfAnotherBoot) {
            // Then the record of the stop has to say that nothing was lost.
            byte[] other = whole.get(files.indexOf(root)).clone();
            other[Root.BOOT_OFFSET] ^= 1;
            replace(root, other);
          }
          read(random);
          replace(path, whole.get(which));
          if (asOfAnotherBoot) {
            replace(root, whole.get(files.indexOf(root)));
          }
        });
  }

  /** A new file is used each time, because the collector may not have unmapped the previous one. */
  private static void replace(Path path, byte[] bytes) throws IOException {
    Files.delete(path);
    Files.write(path, bytes);
  }

  /** Corrects checksums, so that the bytes that they protect are examined, too. */
  private static void fixChecksums(String name, byte[] file) {
    if (name.equals("superblock") && file.length >= PAGE_BYTES + SUPERBLOCK_COPY_BYTES) {
      // One whole copy is enough, and hides the other.
      System.arraycopy(file, 0, file, PAGE_BYTES, SUPERBLOCK_COPY_BYTES);
      putChecksum(file, 0, SUPERBLOCK_COPY_BYTES - 4, SUPERBLOCK_COPY_BYTES - 4);
      putChecksum(file, PAGE_BYTES, SUPERBLOCK_COPY_BYTES - 4, SUPERBLOCK_COPY_BYTES - 4);
    } else if (name.startsWith("region") && file.length >= 64) {
      Arrays.fill(file, 12, 16, (byte) 0);
      putChecksum(file, 0, 64, 12);
    } else if (name.equals("stopped") && file.length >= 64) {
      Arrays.fill(file, 12, 16, (byte) 0);
      putChecksum(file, 0, file.length, 12);
    }
  }

  private static void putChecksum(byte[] file, int from, int length, int at) {
    CRC32C crc = new CRC32C();
    crc.update(file, from, length);
    for (int i = 0; i < 4; i++) {
      file[from + at + i] = (byte) (crc.getValue() >>> 8 * i);
    }
  }

  private void read(RandomGenerator random) {
    try (ErdaClient client = ErdaClient.connect(new ErdaUri.Shm(data, true), QUICK)) {
      // Only a few gets are tried, because a get of an unreadable key takes its whole time-out.
      for (int i = 0; i < 2; i++) {
        byte[] key = key(random.nextInt(KEYS + 1));
        try {
          byte[] found = client.get(key);
          if (found != null) {
            requirePut(key, found);
          }
        } catch (ErdaException e) {
          requireOneLine(e);
        }
      }
      try (KeyCursor cursor = client.keys()) {
        iterate(cursor);
      }
    } catch (ErdaException e) {
      requireOneLine(e);
    }
  }

  private static void iterate(KeyCursor cursor) {
    for (int errors = 0; errors < KEYS; ) {
      try {
        if (!cursor.next()) {
          return;
        }
        requirePut(cursor.key(), cursor.value());
      } catch (ErdaException.Damaged e) {
        requireOneLine(e);
        errors++;
      }
    }
  }

  private static void requireOneLine(ErdaException e) {
    assertFalse(e.getMessage().contains("\n"), e.getMessage());
  }
}
