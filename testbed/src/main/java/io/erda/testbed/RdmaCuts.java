package io.erda.testbed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Judges the files of {@code testbed/rdma cuts}, in order: one for each boot, with the lines that
 * the guest printed until its power was cut. In each boot but the first the store was opened and
 * every key read before the load went on.
 *
 * <pre>RdmaCuts FILE...</pre>
 *
 * <p>Prints one line for each cut, and exits with 1 when something was lost, a store did not open,
 * or a guest printed a line that it must never print.
 */
public final class RdmaCuts {
  private static final int PROBLEMS_MAX = 5;

  private final Ledger ledger = new Ledger();
  private int problems;

  private RdmaCuts() {}

  /** See the class comment. */
  public static void main(String[] args) throws IOException {
    RdmaCuts cuts = new RdmaCuts();
    cuts.lines(wholeLines(Path.of(args[0])));
    for (int cut = 1; cut < args.length; cut++) {
      cuts.ledger.powerFailed();
      cuts.after(cut, wholeLines(Path.of(args[cut])));
    }
    System.out.println(
        (args.length - 1)
            + " cuts, "
            + cuts.ledger.acknowledged()
            + " operations acknowledged: "
            + (cuts.problems == 0
                ? "nothing acknowledged was lost, every store opened"
                : cuts.problems + " failures"));
    System.exit(cuts.problems == 0 ? 0 : 1);
  }

  /** The whole lines of a file; an unterminated last line was cut. */
  private static List<String> wholeLines(Path file) throws IOException {
    String all = Files.readString(file);
    return all.substring(0, all.lastIndexOf('\n') + 1).lines().map(String::stripTrailing).toList();
  }

  private void lines(List<String> lines) {
    lines.forEach(ledger::line);
    ledger.takeTrouble().forEach(this::problem);
  }

  private void after(int cut, List<String> lines) {
    Ledger.Claim claim = ledger.claim();
    int end = lines.indexOf("@ E");
    if (end < 0) {
      problem("cut " + cut + ": the keys were not read: " + said(lines));
      return;
    }
    KeysRead keys = new KeysRead();
    lines.subList(0, end).forEach(keys::line);
    int lost = keys.judge(claim, this::problem);
    System.out.printf(
        "cut %d: %d keys had to be there, %d were lost; %s%n",
        cut, claim.versions().size(), lost, said(lines.subList(0, end)));
    lines(lines);
  }

  /** The store's notes when it opened, or why it did not. */
  private static String said(List<String> lines) {
    return lines.stream()
        .filter(line -> line.matches("@ [NFX] .*"))
        .map(line -> line.substring(4))
        .reduce((a, b) -> a + "; " + b)
        .orElse("nothing to recover was said");
  }

  private void problem(String line) {
    if (++problems <= PROBLEMS_MAX) {
      System.out.println("FAILED: " + line);
    }
  }
}
