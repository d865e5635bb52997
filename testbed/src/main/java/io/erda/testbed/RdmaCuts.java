package io.erda.testbed;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Judges what {@code testbed/rdma cuts} noted outside of its guests: for each boot a file of the
 * lines that the guest said until its power was cut, in order. In each but the first the store was
 * opened and every key read before the load went on.
 *
 * <pre>RdmaCuts FILE...</pre>
 *
 * <p>Prints one line for each cut, and exits with 1 when something was lost, a store did not open,
 * or a guest said what it should never say.
 */
public final class RdmaCuts {
  private static final int PROBLEMS_MAX = 5;

  private final Ledger ledger = new Ledger();
  private int problems;

  private RdmaCuts() {}

  /** See the class. */
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

  /** What stands behind the last line end was cut. */
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

  /** What the store said when it opened, or why it did not. */
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
