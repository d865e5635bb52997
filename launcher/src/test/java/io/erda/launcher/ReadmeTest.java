package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples of the README and of {@code docs/embedding.md} compile as they stand there, and
 * print what they say.
 */
class ReadmeTest {
  private static final Path README = Path.of("..", "README.md");
  private static final Path DOCS = Path.of("..", "docs");
  private static final List<Path> PAGES =
      List.of(
          README,
          DOCS.resolve("embedding.md"),
          DOCS.resolve("installing.md"),
          DOCS.resolve("README.md"));
  private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern CLASS = Pattern.compile("public class (\\w+)");

  @TempDir Path directory;

  @Test
  void theEmbeddedStore() throws Exception {
    Path data = directory.resolve("data");
    assertEquals(List.of("hello", "true", "null"), run("Embedded", data.toString()));
  }

  /** It named the java of the PATH, which may be too old for the flags. */
  @Test
  void theLinesThatRunItFromASourceTree() throws Exception {
    Matcher lines =
        Pattern.compile("(?m)^    java=.*\\n    .* Embedded\\.java data$")
            .matcher(Files.readString(README));
    assertTrue(lines.find());
    Files.writeString(directory.resolve("Embedded.java"), examples().get("Embedded"));
    Path older = Files.createDirectory(directory.resolve("older"));
    Path java = Files.writeString(older.resolve("java"), "#!/bin/sh\nexit 1\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    CommandShell.Ended ended =
        new CommandShell(directory, "")
            .run(
                "set -e; cd '"
                    + directory
                    + "'; PATH='"
                    + older
                    + "':$PATH\n"
                    + lines.group().replace("./erda", "erda"));
    assertEquals(0, ended.exitCode(), ended.err());
    assertEquals("hello\ntrue\nnull\n", new String(ended.out(), StandardCharsets.UTF_8));
  }

  @Test
  void theClientOfAServer() throws Exception {
    ServerOptions small =
        ServerOptions.DEFAULTS
            .withRegionBytes(1 << 20)
            .withSegmentBytes(1 << 16)
            .withCapacityBytes(8 << 20)
            .withBuckets(64);
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), small)) {
      assertEquals(List.of("11"), run("Client", server.uri()));
      assertEquals(List.of("hello, null", "hello again"), run("Pooled", server.uri()));
    }
  }

  /** Names of files and coordinates are to be copied as they stand there. */
  @Test
  void theVersionIsTheOneThatIsBuilt() throws IOException {
    Matcher built =
        Pattern.compile("<artifactId>erda</artifactId>\\s*<version>(.*?)</version>")
            .matcher(Files.readString(Path.of("..", "pom.xml")));
    assertTrue(built.find());
    int count = 0;
    for (Path page :
        List.of(
            DOCS.resolve("embedding.md"),
            DOCS.resolve("installing.md"),
            DOCS.resolve("examples.md"),
            DOCS.resolve("operations.md"))) {
      Matcher named =
          Pattern.compile("(?<![0-9.])0\\.[0-9]+\\.[0-9]+(?:[-~][A-Z]+)?")
              .matcher(Files.readString(page));
      while (named.find()) {
        assertEquals(built.group(1), named.group().replace('~', '-'), page::toString);
        count++;
      }
    }
    assertTrue(count > 5, "versions found: " + count);
  }

  @Test
  void everyFileThatTheyLinkToIsThere() throws IOException {
    int count = 0;
    for (Path page : PAGES) {
      Matcher links =
          Pattern.compile("\\]\\(([^):#]+)(?:#[^)]*)?\\)").matcher(Files.readString(page));
      while (links.find()) {
        assertTrue(Files.exists(page.resolveSibling(links.group(1))), page + ": " + links.group(1));
        count++;
      }
    }
    assertTrue(count > 30, "links found: " + count);
  }

  private List<String> run(String example, String argument) throws Exception {
    Path classes = compile(example);
    PrintStream standardOut = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      loader
          .loadClass(example)
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[] {argument});
    } finally {
      System.setOut(standardOut);
    }
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private Path compile(String example) throws IOException {
    Path source = Files.writeString(directory.resolve(example + ".java"), examples().get(example));
    Path classes = Files.createDirectories(directory.resolve("classes"));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files =
        compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      List<String> options =
          List.of(
              "-d",
              classes.toString(),
              "-classpath",
              System.getProperty("java.class.path"),
              "-proc:none");
      boolean compiled =
          compiler
              .getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
              .call();
      assertTrue(compiled, messages::toString);
    }
    return classes;
  }

  private static Map<String, String> examples() throws IOException {
    Map<String, String> examples = new TreeMap<>();
    for (Path page : PAGES) {
      Matcher matcher = EXAMPLE.matcher(Files.readString(page));
      while (matcher.find()) {
        Matcher name = CLASS.matcher(matcher.group(1));
        assertTrue(name.find(), "an example without a public class");
        examples.put(name.group(1), matcher.group(1));
      }
    }
    return examples;
  }
}
