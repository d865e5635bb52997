import com.google.googlejavaformat.java.Main;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks or applies google-java-format over every Java file of the repository.
 *
 * <p>Run by the root project's {@code verify} on JDK 25, from source, with the formatter on the
 * class path: the formatter reads Java 25 only when it runs on it, and Maven may run on 17.
 *
 * <p>Arguments: {@code check} or {@code apply}, whether a finding fails the build ({@code true} or
 * {@code false}), the repository root, the file that is written when the build is to fail.
 */
final class Format {
  public static void main(String[] args) throws Exception {
    boolean apply =
        switch (args[0]) {
          case "apply" -> true;
          case "check" -> false;
          default ->
              throw new IllegalArgumentException("erda.format is check or apply: " + args[0]);
        };
    boolean strict = Boolean.parseBoolean(args[1]);
    Path root = Path.of(args[2]);
    List<String> files = javaFiles(root);

    List<String> command = new ArrayList<>(List.of("--dry-run"));
    command.addAll(files);
    StringWriter findings = new StringWriter();
    int exitCode = format(command, findings);
    List<String> unformatted = findings.toString().lines().sorted().toList();
    if (apply && exitCode == 0 && !unformatted.isEmpty()) {
      List<String> replace = new ArrayList<>(List.of("--replace"));
      replace.addAll(unformatted);
      exitCode = format(replace, new StringWriter());
    }
    Path report = Path.of(args[3]);
    Files.deleteIfExists(report);
    for (String file : strict || apply ? unformatted : List.<String>of()) {
      Path path = root.relativize(Path.of(file));
      System.err.println((apply ? "formatted: " : "not formatted: ") + path);
    }
    String finding =
        exitCode != 0
            ? "the formatter could not read what is named above"
            : "%d of %d files are not formatted: ./erda format puts it right"
                .formatted(unformatted.size(), files.size());
    if (exitCode != 0 || (!apply && !unformatted.isEmpty())) {
      System.err.println(finding);
      if (strict || apply) {
        Files.writeString(report, finding);
      }
    }
  }

  private static int format(List<String> args, StringWriter out) throws Exception {
    PrintWriter err = new PrintWriter(System.err, true);
    return new Main(new PrintWriter(out, true), err, InputStream.nullInputStream())
        .format(args.toArray(String[]::new));
  }

  /** The files under build/ and under every module's src/. */
  private static List<String> javaFiles(Path root) throws IOException {
    List<Path> trees = new ArrayList<>(List.of(root.resolve("build")));
    try (Stream<Path> modules = Files.list(root)) {
      modules.map(module -> module.resolve("src")).filter(Files::isDirectory).forEach(trees::add);
    }
    List<String> files = new ArrayList<>();
    for (Path tree : trees) {
      try (Stream<Path> paths = Files.walk(tree)) {
        paths.map(Path::toString).filter(path -> path.endsWith(".java")).forEach(files::add);
      }
    }
    files.sort(null);
    return files;
  }
}
