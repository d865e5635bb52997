package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each line of {@code SECURITY.md}'s tables names tests, and they are there. */
class SecurityPageTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+)(?:\\.(\\w+))?`");

  @Test
  void everyLineNamesATestThatIsThere() throws IOException {
    Map<String, Path> tests = testClasses();
    List<String> wrong = new ArrayList<>();
    int lines = 0;
    for (String line : Files.readAllLines(ROOT.resolve("SECURITY.md"), UTF_8)) {
      if (!line.startsWith("| ") || line.endsWith("| held by |")) {
        continue;
      }
      lines++;
      String[] columns = line.split("\\|");
      Matcher named = TEST.matcher(columns[columns.length - 1]);
      boolean any = false;
      while (named.find()) {
        any = true;
        if (!isThere(tests.get(named.group(1)), named.group(2))) {
          wrong.add(named.group());
        }
      }
      if (!any) {
        wrong.add(line);
      }
    }
    assertEquals(List.of(), wrong);
    assertTrue(lines > 20, lines + " lines");
  }

  private static boolean isThere(Path file, String method) throws IOException {
    return file != null
        && (method == null || Files.readString(file, UTF_8).contains(" " + method + "("));
  }

  private static Map<String, Path> testClasses() throws IOException {
    Map<String, Path> classes = new HashMap<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      modules
          .map(module -> module.resolve("src/test/java"))
          .filter(Files::isDirectory)
          .forEach(sources -> collect(sources, classes));
    }
    return classes;
  }

  private static void collect(Path sources, Map<String, Path> into) {
    try (Stream<Path> files = Files.walk(sources)) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .forEach(file -> into.put(file.getFileName().toString().replace(".java", ""), file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
