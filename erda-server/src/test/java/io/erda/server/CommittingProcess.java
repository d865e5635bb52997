package io.erda.server;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/**
 * A client in a process of its own that puts to keys of its own, and to keys that all such
 * processes share, and counts in a file that outlives it what it has begun and what was done. It
 * may stand still at a point of a commit until it is told to go on.
 */
final class CommittingProcess implements AutoCloseable {
  static final int KEYS = 8;
  static final int SHARED_KEYS = 4;
  private static final long BYTES = 16L * KEYS + 8;

  final int number;
  private final Path files;
  private final Process process;

  private CommittingProcess(int number, Path files, Process process) {
    this.number = number;
    this.files = files;
    this.process = process;
  }

  /**
   * @param files a directory for this process
   * @param point where it stands still, of {@link CommitStops}, at a later commit; −1: nowhere
   */
  static CommittingProcess start(Path data, Path files, int number, int point) throws IOException {
    Files.createDirectories(files);
    Process process =
        new ProcessBuilder(
                ChildJvm.command(
                    java.util.List.of(),
                    CommittingProcess.class,
                    "erda+shm:" + data.toAbsolutePath(),
                    files.toString(),
                    Integer.toString(number),
                    Integer.toString(point)))
            .redirectErrorStream(true)
            .redirectOutput(Redirect.to(files.resolve("out").toFile()))
            .start();
    return new CommittingProcess(number, files, process);
  }

  /** The child. */
  public static void main(String[] arguments) throws Exception {
    Path files = Path.of(arguments[1]);
    int number = Integer.parseInt(arguments[2]);
    int point = Integer.parseInt(arguments[3]);
    Random random = new Random(number);
    try (Arena arena = Arena.ofShared();
        ErdaClient client = ErdaClient.connect(arguments[0])) {
      MemorySegment counts = counts(files, arena);
      long sequence = 0;
      while (!Files.exists(files.resolve("end"))) {
        sequence++;
        int key = random.nextInt(KEYS);
        boolean stops = point >= 0 && sequence >= 300 && !Files.exists(files.resolve("stands"));
        if (stops) {
          // A key that has a value, so that the client commits by itself.
          counts.set(ValueLayout.JAVA_LONG, 16L * KEYS, key + 1);
          CommitStops.set(client, at -> standStill(files, at == point));
        }
        counts.set(ValueLayout.JAVA_LONG, 16L * key, sequence);
        try {
          client.put(key(number, key), value(number, sequence));
          counts.set(ValueLayout.JAVA_LONG, 16L * key + 8, sequence);
          CommitStops.set(client, _ -> {});
          if (stops && Files.exists(files.resolve("stands"))) {
            Files.createFile(files.resolve("done"));
          }
          if (sequence % 4 == 0) {
            client.put(key(-1, random.nextInt(SHARED_KEYS)), value(number, sequence));
          }
        } catch (ErdaException e) {
          System.out.println(sequence + ": " + e);
          if (stops && Files.exists(files.resolve("stands"))) {
            Files.createFile(files.resolve("failed"));
          }
        }
      }
    }
  }

  private static MemorySegment counts(Path files, Arena arena) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            files.resolve("counts"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
    }
  }

  private static void standStill(Path files, boolean here) {
    if (!here || Files.exists(files.resolve("stands"))) {
      return;
    }
    try {
      Files.createFile(files.resolve("stands"));
      while (!Files.exists(files.resolve("go"))) {
        Thread.sleep(1);
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static byte[] key(int number, int key) {
    return ("process " + number + " key " + key).getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  /** A value of some length that shows whether it is whole. */
  static byte[] value(int number, long sequence) {
    byte[] value = new byte[16 + (int) (sequence % 50) * 16];
    ByteBuffer words = ByteBuffer.wrap(value);
    while (words.hasRemaining()) {
      words.putLong(number).putLong(sequence);
    }
    return value;
  }

  static long sequenceOf(byte[] value) {
    return ByteBuffer.wrap(value).getLong(8);
  }

  static int numberOf(byte[] value) {
    return (int) ByteBuffer.wrap(value).getLong(0);
  }

  // The parent.

  boolean has(String file) {
    return Files.exists(files.resolve(file));
  }

  void await(String file) throws Exception {
    long untilNs = System.nanoTime() + 60_000_000_000L;
    while (!has(file)) {
      if (!process.isAlive() || System.nanoTime() - untilNs > 0) {
        throw new AssertionError("no " + file + ": " + Files.readString(files.resolve("out")));
      }
      Thread.sleep(1);
    }
  }

  void tell(String file) throws IOException {
    Files.createFile(files.resolve(file));
  }

  /** The number of the put to a key that was begun last, and of the one that was done last. */
  long[] counts(int key) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment counts = counts(files, arena);
      return new long[] {
        counts.get(ValueLayout.JAVA_LONG, 16L * key),
        counts.get(ValueLayout.JAVA_LONG, 16L * key + 8)
      };
    }
  }

  /** The key whose put stands still. */
  int stoppedKey() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return (int) counts(files, arena).get(ValueLayout.JAVA_LONG, 16L * KEYS) - 1;
    }
  }

  void signal(String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() throws IOException {
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
