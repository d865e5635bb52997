import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names the test classes that took longest in this build, and how long all of them took: the last
 * thing that {@code mvn verify} prints.
 *
 * <p>Arguments: the repository root, what modules call their output directory, when the build began
 * (reports of an earlier one do not count).
 */
final class LongestTests {
  private static final int NAMED = 8;
  private static final Pattern SUITE = Pattern.compile("<testsuite [^>]*>");
  private static final Pattern TIME = Pattern.compile(" time=\"([0-9.,]+)\"");
  private static final Pattern NAME = Pattern.compile(" name=\"([^\"]+)\"");

  private record Ran(String module, String name, double seconds) {}

  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]);
    Instant began = Instant.parse(args[2]);
    List<Ran> all = new ArrayList<>();
    try (DirectoryStream<Path> modules = Files.newDirectoryStream(root, Files::isDirectory)) {
      for (Path module : modules) {
        Path reports = module.resolve(args[1]).resolve("surefire-reports");
        if (Files.isDirectory(reports)) {
          read(module.getFileName().toString(), reports, began, all);
        }
      }
    }
    if (all.isEmpty()) {
      return;
    }
    all.sort(Comparator.comparingDouble(Ran::seconds).reversed());
    double seconds = all.stream().mapToDouble(Ran::seconds).sum();
    System.out.printf(
        Locale.ROOT, "tests: %d classes, %.0f s; the longest:%n", all.size(), seconds);
    for (Ran each : all.subList(0, Math.min(NAMED, all.size()))) {
      System.out.printf(
          Locale.ROOT, "%8.1f s  %s (%s)%n", each.seconds(), each.name(), each.module());
    }
  }

  private static void read(String module, Path reports, Instant began, List<Ran> into)
      throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(reports, "TEST-*.xml")) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(began)) {
          continue;
        }
        Matcher suite = SUITE.matcher(Files.readString(file));
        if (suite.find()) {
          String head = suite.group();
          Matcher time = TIME.matcher(head);
          Matcher name = NAME.matcher(head);
          if (time.find() && name.find()) {
            into.add(
                new Ran(
                    module,
                    name.group(1).substring(name.group(1).lastIndexOf('.') + 1),
                    Double.parseDouble(time.group(1).replace(",", ""))));
          }
        }
      }
    }
  }
}
