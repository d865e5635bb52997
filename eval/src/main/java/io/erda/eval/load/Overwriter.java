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
 * The side of an {@link OverwriteWorker} that starts it, tells it what to do, kills it, and owns
 * the file in which it remembers what it did. The process ends with the experiment's children.
 * Closing lets go of the file. One thread.
 */
public final class Overwriter implements AutoCloseable {
  public static final int KEY_BYTES = 16;

  private static final Duration ANSWER_MAX = Duration.ofMinutes(10);

  /**
   * A heap as small as what a worker needs. One of the JVM's default size, a quarter of the memory,
   * takes an hour to be filled once, and looks like a leak meanwhile.
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
   * What a worker overwrites.
   *
   * @param count how many keys
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
   * Starts a worker that has put nothing yet, and waits until it is connected.
   *
   * @param directory where it remembers
   * @param number which share of the store's keys is its own
   */
  public static Overwriter start(Context context, String uri, Path directory, int number, Keys keys)
      throws IOException {
    Overwriter worker =
        new Overwriter(context, directory.resolve("worker-" + number), number, keys);
    worker.startAgain(uri);
    return worker;
  }

  /**
   * Starts the process, which looks at first whether the store has all that was acknowledged, and
   * nothing that was not begun.
   *
   * @throws io.erda.eval.process.ProcessException when the store has not
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

  /** As {@code kill -9} does. */
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

  /** Puts that all lives of it have done. */
  public long done() {
    return OverwriteWorker.done(remembered);
  }

  /** Lets it put so many times; it says when it has. */
  public void run(long puts) {
    child.tell("run " + puts);
  }

  /**
   * Waits until it has put as often as it was told last.
   *
   * @throws io.erda.eval.process.ProcessException when it ended instead
   */
  public void awaitRan() {
    child.await("ran", ANSWER_MAX);
  }

  /** Ends with an exception that says why, when the process is gone. */
  public void requireAlive() {
    if (!child.isAlive()) {
      awaitRan();
    }
  }

  /** Lets it look at all its keys; {@link #awaitChecked} waits for that. */
  public void check() {
    child.tell("check");
  }

  /**
   * Waits until it has looked at all its keys.
   *
   * @throws io.erda.eval.process.ProcessException when one is not as it must be
   */
  public void awaitChecked() {
    child.await("checked ", ANSWER_MAX);
  }

  /** What it remembers now, for {@link #between}. */
  public byte[] remembered() {
    return remembered.toArray(ValueLayout.JAVA_BYTE);
  }

  /**
   * Makes a worker, which is not started yet, that remembers what this one remembered at two
   * moments: every key was acknowledged as it was at the earlier, and begun as it was at the later.
   * So it finds wrong what a copy made between the two must not have.
   *
   * @param directory where it remembers, not this one's
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
