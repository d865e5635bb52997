package io.erda.eval.load;

import io.erda.eval.Experiment.Context;
import io.erda.eval.process.Child;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Starts, commands and kills an {@link OverwriteWorker}, and owns its record file. The process ends
 * with the experiment's children. Closing releases the file. One thread.
 */
public final class Overwriter implements AutoCloseable {
  public static final int KEY_BYTES = 16;

  private static final Duration ANSWER_MAX = Duration.ofMinutes(10);

  /**
   * A small heap, which suffices for a worker. The default size, a quarter of the memory, would
   * take an hour to fill once, and would look like a leak until then.
   */
  private static final String HEAP = "-Xmx64m";

  private final Context context;
  private final Path file;
  private final int number;
  private final Keys keys;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment remembered;
  private Child child;

  /**
   * The keys that a worker overwrites.
   *
   * @param count number of keys
   * @param valueBytes bytes of each value, a multiple of 8
   * @param distribution {@code uniform} or {@code zipfian}
   */
  public record Keys(int count, int valueBytes, String distribution) {}

  private Overwriter(Context context, Path file, int number, Keys keys) throws IOException {
    this.context = context;
    this.file = file;
    this.number = number;
    this.keys = keys;
    long bytes = OverwriteWorker.fileBytes(keys.count());
    try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
      access.setLength(bytes);
      this.remembered = access.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    }
  }

  /**
   * Starts a new worker, and waits until it is connected.
   *
   * @param directory of its record file
   * @param number the number of its share of the store's keys
   */
  public static Overwriter start(Context context, String uri, Path directory, int number, Keys keys)
      throws IOException {
    Overwriter worker =
        new Overwriter(context, directory.resolve("worker-" + number), number, keys);
    worker.startAgain(uri);
    return worker;
  }

  /**
   * Starts the process, which first checks that the store has all acknowledged puts, and none that
   * was not begun.
   *
   * @throws io.erda.eval.process.ProcessException when the check fails
   */
  public void startAgain(String uri) {
    child =
        context
            .children()
            .start(
                "a process that overwrites",
                context
                    .jvm()
                    .with(HEAP)
                    .command(
                        OverwriteWorker.class,
                        uri,
                        file.toString(),
                        Integer.toString(number),
                        Integer.toString(keys.count()),
                        Integer.toString(keys.valueBytes()),
                        keys.distribution()));
    awaitChecked();
  }

  /** Kills it, as {@code kill -9} does. */
  public void kill() {
    child.kill();
    context.children().forget(child);
  }

  public void end() {
    child.end();
    context.children().forget(child);
  }

  public long pid() {
    return child.pid();
  }

  /** Number of puts that all its lives have done. */
  public long done() {
    return OverwriteWorker.done(remembered);
  }

  /** Makes it put this many times; {@link #awaitRan} waits for that. */
  public void run(long puts) {
    child.tell("run " + puts);
  }

  /**
   * Waits until it has done the puts of the last {@link #run}.
   *
   * @throws io.erda.eval.process.ProcessException when it ended instead
   */
  public void awaitRan() {
    child.await("ran", ANSWER_MAX);
  }

  /** Throws an exception with the reason when the process is gone. */
  public void requireAlive() {
    if (!child.isAlive()) {
      awaitRan();
    }
  }

  /** Makes it check all its keys; {@link #awaitChecked} waits for that. */
  public void check() {
    child.tell("check");
  }

  /**
   * Waits until it has checked all its keys.
   *
   * @throws io.erda.eval.process.ProcessException when one is wrong
   */
  public void awaitChecked() {
    child.await("checked ", ANSWER_MAX);
  }

  /** A copy of its current records, for {@link #between}. */
  public byte[] remembered() {
    return remembered.toArray(ValueLayout.JAVA_BYTE);
  }

  /**
   * Makes a worker, not started yet, with the records of this one at two moments: its acknowledged
   * versions are those of the earlier, its begun versions those of the later moment. So it can
   * check a copy of the store made between the two.
   *
   * @param directory of its record file, not this one's
   */
  public Overwriter between(byte[] earlier, byte[] later, Path directory) throws IOException {
    Overwriter other = new Overwriter(context, directory.resolve("worker-" + number), number, keys);
    OverwriteWorker.remember(
        other.remembered, MemorySegment.ofArray(earlier), MemorySegment.ofArray(later));
    return other;
  }

  @Override
  public void close() {
    arena.close();
  }
}
