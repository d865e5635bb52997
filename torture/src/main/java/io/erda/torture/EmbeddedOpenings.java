package io.erda.torture;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** Runs processes that open a store for themselves while no server has it open. */
final class EmbeddedOpenings {
  private static final Duration TOO_LONG = Duration.ofSeconds(60);
  private static final int THREADS_MAX = 3;
  private static final long LIFE_NS_MIN = 20_000_000;
  private static final long LIFE_NS_MAX = 600_000_000;

  /** The result of one opening. */
  record Opening(boolean killed, List<Path> histories, List<String> complaints) {}

  private final Children children;
  private final Jvm jvm;
  private final SplittableRandom random;
  private int openings;
  private int kills;

  EmbeddedOpenings(Children children, Jvm jvm, SplittableRandom random) {
    this.children = children;
    this.jvm = jvm;
    this.random = random;
  }

  /** Number of openings. */
  int openings() {
    return openings;
  }

  /** Number of openings that were killed; the others closed the store. */
  int kills() {
    return kills;
  }

  /** Number of client numbers that one opening takes. */
  int clientsMax() {
    return THREADS_MAX;
  }

  /**
   * Opens the store, lets clients of that process work for a while, and kills it or makes it close
   * the store.
   *
   * @param firstClient the first of {@link #clientsMax} numbers for its clients
   */
  Opening open(Path data, Path files, int firstClient, int keysMax, int keys) {
    int threads = random.nextInt(1, THREADS_MAX + 1);
    Child process =
        children.start(
            "the embedded store",
            jvm.command(
                TortureStore.class,
                data.toString(),
                Integer.toString(firstClient),
                Integer.toString(threads),
                Long.toString(random.nextLong()),
                Integer.toString(keysMax),
                Integer.toString(keys),
                files.toString()));
    process.await("open", TOO_LONG);
    openings++;
    LockSupport.parkNanos(random.nextLong(LIFE_NS_MIN, LIFE_NS_MAX));
    boolean killed = random.nextBoolean();
    List<String> complaints = new ArrayList<>();
    if (killed) {
      process.kill();
      kills++;
    } else {
      end(process, complaints);
    }
    collect(process, complaints);
    children.forget(process);
    List<Path> histories = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Path history = ClientLog.file(files, firstClient + i);
      if (history.toFile().exists()) {
        histories.add(history);
      }
    }
    return new Opening(killed, histories, complaints);
  }

  private void end(Child process, List<String> complaints) {
    try {
      process.tell(random.nextBoolean() ? "end" : "close");
    } catch (ProcessException e) {
      // The process has ended already, which its exit code explains.
    }
    int exitCode = process.awaitEnd(TOO_LONG);
    if (exitCode != 0) {
      complaints.add(
          "a process with an embedded store ended with exit code "
              + exitCode
              + process.errorTail());
    }
  }

  private static void collect(Child process, List<String> complaints) {
    try {
      for (String line = process.poll(Duration.ofMillis(50));
          line != null;
          line = process.poll(Duration.ofMillis(50))) {
        String complaint = Complaint.in(line);
        if (complaint != null) {
          complaints.add("an embedded store's client: " + complaint);
        }
      }
    } catch (ProcessException e) {
      // The end of its output.
    }
  }
}
