package io.erda.eval.floor;

import io.erda.eval.process.Children;
import io.erda.eval.process.PageCache;
import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;

/** The time of reading one random page of a file that is not in the page cache. */
public final class DevicePages {
  private static final int PAGE_BYTES = 4096;
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int CHUNKS = 256;
  private static final int READS = 2_000;

  /**
   * Makes and measures a file. Returns nanoseconds a page.
   *
   * @param children the owner of the processes that this starts
   * @param directory an empty one, in which the file is made and removed
   */
  public static double readNs(Children children, Path directory) {
    Path file = directory.resolve("pages");
    try {
      try {
        write(file);
        new PageCache(children).evict(directory);
        return read(file);
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new ProcessException("can't measure the device below " + directory, e);
    }
  }

  /** The kernel's read-ahead for the device of a file, in words; empty when it is unknown. */
  public static String readAhead(Path file) {
    try {
      long device = (Long) Files.getAttribute(file, "unix:dev");
      String numbers = (device >>> 8 & 0xfff) + ":" + (device & 0xff | device >>> 12 & 0xfff00);
      Path block = Path.of("/sys/dev/block", numbers).toRealPath();
      Path own = block.resolve("queue/read_ahead_kb");
      // A partition uses its disk's setting.
      Path disk = block.resolveSibling("queue/read_ahead_kb");
      return Files.readString(Files.exists(own) ? own : disk).strip() + " KiB";
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
  }

  private static void write(Path file) throws IOException {
    byte[] bytes = new byte[CHUNK_BYTES];
    SplittableRandom random = new SplittableRandom(1);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int i = 0; i < CHUNKS; i++) {
        random.nextBytes(bytes);
        ByteBuffer chunk = ByteBuffer.wrap(bytes);
        while (chunk.hasRemaining()) {
          channel.write(chunk);
        }
      }
      channel.force(true);
    }
  }

  private static double read(Path file) throws IOException {
    SplittableRandom random = new SplittableRandom(2);
    ByteBuffer page = ByteBuffer.allocateDirect(PAGE_BYTES);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long pages = channel.size() / PAGE_BYTES;
      long startNs = System.nanoTime();
      for (int i = 0; i < READS; i++) {
        page.clear();
        channel.read(page, random.nextLong(pages) * PAGE_BYTES);
      }
      return (System.nanoTime() - startNs) / (double) READS;
    }
  }

  private DevicePages() {}
}
