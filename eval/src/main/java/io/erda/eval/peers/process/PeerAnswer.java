package io.erda.eval.peers.process;

import io.erda.eval.load.LoadResult;
import io.erda.eval.process.ProcessException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The lines that a {@link PeerWorker} writes, and {@link PeerProcess} reads. */
final class PeerAnswer {
  /** The store is open. */
  static final String OPEN = "open ";

  /** The request is done. */
  static final String DONE = "done ";

  /** The request is done, and the line has the latencies of the operations. */
  static final String TIMED = "timed ";

  private static final Pattern DONE_LINE = Pattern.compile(DONE + "([1-9]\\d{0,17}) (\\d{1,18})");

  /**
   * @param durability what a put that has returned survives, in words
   */
  static String open(String durability) {
    return OPEN + durability;
  }

  static String done(long operations, long ns) {
    return DONE + operations + " " + ns;
  }

  static String timed(LoadResult result) {
    return TIMED + result.format();
  }

  /**
   * Returns in words the failures that a put that has returned survives.
   *
   * @param who for messages
   * @param line that begins with {@link #OPEN}
   * @throws ProcessException when the line does not contain it
   */
  static String durability(String who, String line) {
    String durability = line.substring(OPEN.length()).strip();
    if (durability.isEmpty()) {
      throw new ProcessException(who + " opened a store and did not say what a put survives");
    }
    return durability;
  }

  /**
   * Nanoseconds of an operation.
   *
   * @param who for messages
   * @throws ProcessException when the line does not contain it
   */
  static double nsPerOperation(String who, String line) {
    Matcher done = DONE_LINE.matcher(line);
    if (!done.matches()) {
      throw new ProcessException(
          who + " answered '" + line + "', not '" + DONE + "OPERATIONS NANOSECONDS'");
    }
    return Double.parseDouble(done.group(2)) / Double.parseDouble(done.group(1));
  }

  /**
   * The results of operations, with latencies.
   *
   * @param line that begins with {@link #TIMED}
   * @throws ProcessException when the line does not contain it
   */
  static LoadResult result(String line) {
    return LoadResult.parse(line.substring(TIMED.length()));
  }

  private PeerAnswer() {}
}
