package io.erda.architecture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages, classes and members that {@code docs/design.md} names are there. */
class DesignPageTest {
  private static final Path ROOT = Path.of("..");

  /** {@code io.erda.pmem}, {@code io.erda.client.ErdaClient}. */
  private static final Pattern QUALIFIED = Pattern.compile("`(io\\.erda[\\w.]*)`");

  /** {@code Put}, {@code Reservation.nextPlace}; names in capitals alone are constants. */
  private static final Pattern SIMPLE =
      Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:\\.([a-z]\\w*))?`");

  private static final Pattern DECLARED =
      Pattern.compile("\\b(?:class|interface|record|enum) ([A-Z]\\w*)");

  private static final Pattern MEMBER = Pattern.compile("\\b([a-z]\\w*) ?[(;=]");

  private final Set<String> packages = new HashSet<>();
  private final Set<String> classes = new HashSet<>();
  private final Set<String> members = new HashSet<>();

  @Test
  void whatItNamesIsThere() throws IOException {
    collect();
    String page = Files.readString(ROOT.resolve("docs/design.md"), UTF_8);
    List<String> missing = new ArrayList<>();
    Matcher qualified = QUALIFIED.matcher(page);
    int count = 0;
    while (qualified.find()) {
      count++;
      String name = qualified.group(1);
      if (!packages.contains(name) && !classes.contains(name)) {
        missing.add(name);
      }
    }
    Matcher simple = SIMPLE.matcher(page);
    while (simple.find()) {
      count++;
      String member = simple.group(2);
      if (!classes.contains(simple.group(1))
          || (member != null && !members.contains(simple.group(1) + "." + member))) {
        missing.add(simple.group());
      }
    }
    assertEquals(List.of(), missing);
    assertTrue(count > 60, count + " names");
  }

  private void collect() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      List<Path> sources =
          modules
              .flatMap(module -> Stream.of("src/main/java", "src/test/java").map(module::resolve))
              .filter(Files::isDirectory)
              .toList();
      sources.forEach(this::collect);
    }
  }

  private void collect(Path sources) {
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        String text = Files.readString(file, UTF_8);
        String inPackage = sources.relativize(file.getParent()).toString().replace('/', '.');
        String top = file.getFileName().toString().replace(".java", "");
        packages.add(inPackage);
        classes.add(inPackage + "." + top);
        Matcher declared = DECLARED.matcher(text);
        while (declared.find()) {
          classes.add(declared.group(1));
        }
        Matcher member = MEMBER.matcher(text);
        while (member.find()) {
          members.add(top + "." + member.group(1));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
