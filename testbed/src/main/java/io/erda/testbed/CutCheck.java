package io.erda.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Opens the store on a disk as a cut left it, on the host, and compares its content with the
 * acknowledged versions.
 */
final class CutCheck {
  private static final int SECONDS_MAX = 120;
  private static final int PROBLEMS_MAX = 12;

  /**
   * The parameters of a check.
   *
   * @param verifyFirst whether {@code erda verify} comes before the opening
   * @param promise of the opening: {@code power} or {@code none}
   * @param opener {@code embedded} or {@code server}
   * @param clients number of clients, each with {@code keys} keys
   */
  record How(boolean verifyFirst, String promise, String opener, int clients, int keys) {}

  private final Path work;
  private final HostJvm jvm;
  private final How how;
  private final List<String> problems = new ArrayList<>();
  private final KeysRead keys = new KeysRead();
  private boolean opened;
  private boolean inCleaning;
  private boolean inDoubling;
  private String refusal = "";

  /** Makes a check that uses its own directory, {@code work}. */
  CutCheck(Path work, HostJvm jvm, How how) {
    this.work = work;
    this.jvm = jvm;
    this.how = how;
  }

  /** Mounts {@code disk}, which may change it, and checks the store. */
  Cut check(Disk disk, String order, Cut.Phase phase, Ledger.Claim claim) {
    Path mounted = work.resolve("mounted");
    int lost = 0;
    try {
      Files.createDirectories(mounted);
      disk.mountOnHost(mounted, work.resolve("mount.log"));
      try {
        Path data = mounted.resolve("data");
        if (how.verifyFirst() && Files.isDirectory(data)) {
          verify(data, claim);
        }
        open(data);
        lost = judge(claim);
      } finally {
        HostShell.must(work.resolve("umount.log"), "umount", mounted.toString());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Cut(
        disk.kind(),
        order,
        phase,
        claim.power(),
        List.copyOf(problems),
        lost,
        new Cut.Opening(opened, inCleaning, inDoubling));
  }

  private void verify(Path data, Ledger.Claim claim) throws IOException {
    Map<String, String> before = contents(data);
    HostShell.Result result =
        HostShell.run(
            work.resolve("verify.log"),
            SECONDS_MAX,
            jvm.command("io.erda.launcher.Main", "verify", "--data", data.toString()));
    // A cut in the creation leaves no store yet: then the opening must fail with one correct line,
    // and an exit code.
    boolean noStoreYet = !claim.power();
    if (result.exitCode() != 0 && !noStoreYet) {
      problem("verify: exit code " + result.exitCode() + ": " + result.tail());
    }
    Map<String, String> after = contents(data);
    if (!before.equals(after)) {
      after.forEach((file, digest) -> before.remove(file, digest));
      problem("verify changed the store: " + String.join(", ", before.keySet()));
    }
  }

  private void open(Path data) {
    HostShell.Result result =
        HostShell.run(
            work.resolve("read.log"),
            SECONDS_MAX,
            jvm.command(
                "io.erda.testbed.Actor",
                "read",
                data.toString(),
                how.promise(),
                how.opener(),
                "" + how.clients(),
                "" + how.keys()));
    List<String> lines = result.lines();
    opened = lines.contains("@ E");
    inCleaning = lines.stream().anyMatch(l -> l.startsWith("@ N the cleaning of"));
    inDoubling = lines.stream().anyMatch(l -> l.startsWith("@ N the table is being doubled"));
    for (String line : lines) {
      keys.line(line);
      if (line.startsWith("@ F ") || line.startsWith("@ X ")) {
        refusal = line.substring(2);
      }
    }
    if (!opened && refusal.isEmpty()) {
      refusal = "exit code " + result.exitCode() + ": " + result.tail();
    }
  }

  /** Counts the keys that lost an acknowledged version. */
  private int judge(Ledger.Claim claim) {
    if (!opened) {
      // Without the promise the kernel may have kept any part of a store. That does not excuse an
      // incomprehensible error, or a failure because of a file without data.
      boolean typed = refusal.startsWith("F ");
      if (claim.power() || !typed || refusal.contains("/shm/")) {
        problem("the store does not open: " + refusal);
        return claim.versions().size();
      }
      return 0;
    }
    return keys.judge(claim, this::problem);
  }

  private void problem(String line) {
    if (problems.size() < PROBLEMS_MAX) {
      problems.add(line);
    }
  }

  /** Returns the content of every file, by name. */
  private static Map<String, String> contents(Path directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        byte[] digest = sha256().digest(Files.readAllBytes(file));
        contents.put(directory.relativize(file).toString(), HexFormat.of().formatHex(digest));
      }
    }
    return contents;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
