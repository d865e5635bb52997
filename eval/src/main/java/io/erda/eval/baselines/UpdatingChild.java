package io.erda.eval.baselines;

import io.erda.eval.load.Dataset;
import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.eval.profile.Sampling.Span;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * A process with one client of a scheme, which updates objects on command. Owned by the {@link
 * Children} it was started with.
 */
final class UpdatingChild {
  /** The thread that updates. */
  static final String THREAD = "main";

  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(10);
  private static final Duration END_TIMEOUT = Duration.ofSeconds(20);
  private static final String CONNECTED = "connected";
  private static final String UPDATE = "update ";
  private static final String DONE = "done ";
  private static final String END = "end";

  private final String title;
  private final Child child;

  private UpdatingChild(String title, Child child) {
    this.title = title;
    this.child = child;
  }

  /** Starts it; it is connected over shared memory when this returns. */
  static UpdatingChild start(Children children, Jvm jvm, ServedScheme scheme, Dataset dataset) {
    String title = "the client of " + scheme.scheme.title;
    Child child =
        children.start(
            title,
            jvm.command(
                UpdatingChild.class,
                scheme.scheme.name(),
                scheme.transport.name(),
                scheme.address(),
                Integer.toString(dataset.objects()),
                Integer.toString(dataset.valueBytes())));
    child.await(CONNECTED, START_TIMEOUT);
    return new UpdatingChild(title, child);
  }

  long pid() {
    return child.pid();
  }

  /**
   * The result of some updates.
   *
   * @param ns how long they took
   * @param span when they were made
   */
  record Done(long ns, Span span) {}

  /** Updates this many objects, one after the other. */
  Done update(int operations) {
    child.tell(UPDATE + operations);
    String[] words = child.await(DONE, ANSWER_TIMEOUT).split(" ", -1);
    Span span = new Span(Instant.parse(words[2]), Instant.parse(words[3]));
    return new Done(Long.parseLong(words[1]), span);
  }

  /**
   * Ends it in order.
   *
   * @throws ProcessException when that fails
   */
  void stop() {
    child.tell(END);
    int exitCode = child.awaitEnd(END_TIMEOUT);
    if (exitCode != 0) {
      throw new ProcessException(
          title
              + (exitCode < 0
                  ? " did not end within " + END_TIMEOUT.toSeconds() + " s"
                  : " ended with exit code " + exitCode + child.errorTail()));
    }
  }

  /** The process itself. Arguments: scheme, transport, address, objects, bytes of a value. */
  public static void main(String[] arguments) throws IOException {
    Dataset dataset = new Dataset(Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]));
    ZipfianKeys keys =
        new ZipfianKeys(dataset, PaperWorkload.UPDATES.updatePercent, ZipfianKeys.FIRST_SEED);
    try (Caller caller =
            Scheme.valueOf(arguments[0])
                .connect(DeviceChoice.valueOf(arguments[1]), arguments[2], dataset.valueBytes());
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      Consumer<MemorySegment> get = caller::get;
      BiConsumer<MemorySegment, MemorySegment> put = caller::put;
      System.out.println(CONNECTED);
      for (String line = in.readLine(); line != null && !line.equals(END); line = in.readLine()) {
        int operations = Integer.parseInt(line.substring(UPDATE.length()));
        Instant from = Instant.now();
        long beganNs = System.nanoTime();
        for (int i = 0; i < operations; i++) {
          keys.operate(get, put, i);
        }
        long ns = System.nanoTime() - beganNs;
        System.out.println(DONE + ns + " " + from + " " + Instant.now());
      }
    }
  }
}
