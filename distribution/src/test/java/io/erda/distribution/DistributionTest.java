package io.erda.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Unpacks the packed archive and uses it, with only a shell. */
class DistributionTest {
  private static final Map<String, String> NOTHING = Map.of();

  /** Where Maven leaves which artifact something was. */
  private static final Pattern INSIDE =
      Pattern.compile("META-INF/maven/[^/]+/([^/]+)/pom\\.properties");

  /**
   * These classes are YCSB's, or of libraries that it needs, which are old and have known holes.
   */
  private static final Pattern OF_YCSB =
      Pattern.compile(".*(site/ycsb|apache/htrace|codehaus/jackson)/.*\\.class");

  @TempDir static Path directory;
  private static UnpackedTree tree;
  private static Map<String, String> filesAtFirst;

  @TempDir Path stores;

  @BeforeAll
  static void unpack() throws Exception {
    Path archive = Path.of(System.getProperty("erda.distribution", "none"));
    assumeTrue(Files.exists(archive), "no distribution was packed: " + archive);
    Path scratch = Files.createDirectory(directory.resolve("scratch"));
    tree = UnpackedTree.of(archive, Files.createDirectory(directory.resolve("a place")), scratch);
    filesAtFirst = tree.files();
  }

  /** It may be another user's, and read-only. */
  @AfterAll
  static void nothingWasWrittenThere() throws IOException {
    if (tree != null) {
      assertEquals(filesAtFirst, tree.files());
    }
  }

  @Test
  void aLinkToTheCommandRunsItWithTheRuntimeBesideIt() throws Exception {
    Path link = Files.createSymbolicLink(stores.resolve("erda"), tree.resolve("bin/erda"));
    Path linkToLink = Files.createSymbolicLink(stores.resolve("e"), Path.of("erda"));
    Map<String, String> showing = Map.of("ERDA_JAVA_OPTS", "-XshowSettings:properties");
    for (Path command : List.of(link, linkToLink)) {
      UnpackedTree.Ended version = tree.end(tree.start(command, showing, "--version"));
      assertEquals(0, version.exitCode(), version::err);
      assertTrue(version.out().startsWith("erda "), version::out);
      assertTrue(version.err().contains("java.home = " + tree.resolve("runtime")), version::err);
    }
  }

  /** The JVM refuses to start when it must use a cache that does not fit. */
  @Test
  void theClassCacheFitsAfterUnpackingElsewhere() throws Exception {
    Map<String, String> must = Map.of("ERDA_JAVA_OPTS", "-XX:AOTMode=on");
    for (String line :
        List.of("--help", "verify --help", "quickstart --help", "classpath --help")) {
      UnpackedTree.Ended help = tree.run(must, line.split(" "));
      assertEquals(0, help.exitCode(), help::toString);
      assertTrue(help.out().contains("Usage: erda"), help::out);
    }
  }

  @Test
  void aServerServesAndEnds() throws Exception {
    Path data = stores.resolve("data");
    String uri = "erda+shm:" + data;
    Process server =
        tree.start(
            NOTHING,
            "server",
            "--data",
            data.toString(),
            "--region-bytes",
            "1M",
            "--capacity",
            "64M",
            "--buckets",
            "4096",
            "--listen",
            "127.0.0.1:0");
    try {
      tree.await(server, "serving ");
      assertEquals(0, tree.run(NOTHING, "put", "--uri", uri, "schlüssel", "hällo").exitCode());
      UnpackedTree.Ended get = tree.run(NOTHING, "get", "--uri", uri, "schlüssel");
      assertEquals("hällo", get.out(), get::err);
      assertEquals(3, tree.run(NOTHING, "get", "--uri", uri, "none").exitCode());
      server.destroy();
      UnpackedTree.Ended ended = tree.end(server);
      assertEquals(0, ended.exitCode(), ended::err);
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void quickstartFromEndToEnd() throws Exception {
    UnpackedTree.Ended quickstart =
        tree.run(
            NOTHING,
            "quickstart",
            "--records",
            "200",
            "--operations",
            "500",
            "--value-bytes",
            "100",
            "--directory",
            stores.toString());
    assertEquals(0, quickstart.exitCode(), quickstart::err);
    assertTrue(quickstart.out().contains("update-only"), quickstart::out);
    try (Stream<Path> left = Files.list(stores)) {
      assertEquals(List.of(), left.toList());
    }
  }

  @Test
  void anotherJavaIsTakenFromTwentyFiveOn() throws Exception {
    Map<String, String> ours = Map.of("ERDA_JAVA_HOME", System.getProperty("java.home"));
    assertEquals(0, tree.run(ours, "--version").exitCode());

    Path java = javaThatSays("26.0.1", "#!/bin/sh\necho \"$@\"\n");
    UnpackedTree.Ended later = tree.run(Map.of("ERDA_JAVA_HOME", java.toString()), "server", "-h");
    assertEquals(0, later.exitCode(), later::err);
    assertTrue(later.out().contains("-XX:+IgnoreUnrecognizedVMOptions"), later::out);
    assertTrue(later.out().endsWith("io.erda.launcher.Main server -h\n"), later::out);

    Path earlier = javaThatSays("24.0.2", "#!/bin/sh\n");
    UnpackedTree.Ended refused =
        tree.run(Map.of("ERDA_JAVA_HOME", earlier.toString()), "--version");
    assertEquals(1, refused.exitCode());
    assertEquals(
        "erda: ERDA_JAVA_HOME is no Java of version 25 or later: " + earlier + "\n", refused.err());
  }

  @Test
  void aJvmThatCanNotStartIsSaidSo() throws Exception {
    Path java = javaThatSays("25", "#!/nonexistent/ld.so\n");
    UnpackedTree.Ended ended = tree.run(Map.of("ERDA_JAVA_HOME", java.toString()), "--version");
    assertEquals(1, ended.exitCode(), ended::toString);
    assertTrue(
        ended.err().contains("erda: " + java + "/bin/java can't be started here"), ended::err);
  }

  /** No server, and no client, has what YCSB brings. */
  @Test
  void ycsbIsOnTheClassPathOfMeasurementsAlone() throws Exception {
    for (Path jar : concatenated("app/lib", "app/lib/laboratory")) {
      assertEquals(List.of(), classesOfYcsb(jar), jar::toString);
    }
    List<Path> ycsb = jars("app/lib/laboratory/ycsb");
    assertFalse(ycsb.isEmpty());
    for (Path jar : ycsb) {
      assertFalse(classesOfYcsb(jar).isEmpty(), jar::toString);
    }

    // The Java that says its arguments says the class path.
    Path java = javaThatSays("25.0.9", "#!/bin/sh\necho \"$@\"\n");
    Map<String, String> saying = Map.of("ERDA_JAVA_HOME", java.toString());
    for (String line :
        List.of(
            "", "--help", "server --data ycsb", "get quickstart", "-v put eval ycsb", "shell")) {
      String out = tree.run(saying, line.split(" ")).out();
      assertFalse(out.contains("laboratory/ycsb/"), out);
      assertTrue(out.contains("io.erda.launcher.Main " + line), out);
    }
    for (String line : List.of("quickstart", "-v eval list", "ycsb load", "classpath")) {
      String out = tree.run(saying, line.split(" ")).out();
      for (Path jar : ycsb) {
        assertTrue(out.contains(":" + jar + ":") || out.contains(":" + jar + " "), out);
      }
    }
  }

  /** The code that measures and tests Erda is not on the class path of a server. */
  @Test
  void theLaboratoryIsOnTheClassPathOfItsOwnCommandsAlone() throws Exception {
    Path java = javaThatSays("25.0.7", "#!/bin/sh\necho \"$@\"\n");
    Map<String, String> saying = Map.of("ERDA_JAVA_HOME", java.toString());
    for (String line : List.of("server --data eval", "get simulate", "verify", "-v put torture")) {
      String out = tree.run(saying, line.split(" ")).out();
      assertFalse(out.contains("laboratory/"), out);
    }
    for (String line : List.of("torture", "-v simulate", "--help", "completion bash", "shell")) {
      String out = tree.run(saying, line.split(" ")).out();
      for (Path jar : jars("app/lib/laboratory")) {
        assertTrue(out.contains(":" + jar + ":") || out.contains(":" + jar + " "), out);
      }
    }
  }

  /** An archive without the laboratory is whole: it has fewer commands. */
  @Test
  void theLaboratoryMayBeLeftOut(@TempDir Path directory) throws Exception {
    Path copy = directory.resolve("erda");
    Process copying =
        new ProcessBuilder("cp", "-a", tree.resolve(".").toString(), copy.toString()).start();
    assertEquals(0, copying.waitFor());
    Process removing =
        new ProcessBuilder("rm", "-r", copy.resolve("app/lib/laboratory").toString()).start();
    assertEquals(0, removing.waitFor());
    for (String line : List.of("--help", "server --help", "completion bash", "classpath")) {
      List<String> command = new ArrayList<>(List.of(copy.resolve("bin/erda").toString()));
      command.addAll(List.of(line.split(" ")));
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(0, process.waitFor(), said);
      assertFalse(said.contains("torture"), said);
    }
    for (String line : List.of("torture", "torture --help")) {
      List<String> command = new ArrayList<>(List.of(copy.resolve("bin/erda").toString()));
      command.addAll(List.of(line.split(" ")));
      Process gone = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(gone.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(2, gone.waitFor(), said);
      assertTrue(said.startsWith("erda: no such command: 'torture'"), said);
      assertTrue(said.contains("not installed here"), said);
    }
  }

  /** An option before a command does not hide which command it is. */
  @Test
  void aCommandBehindAnOptionHasTheFlagsOfTheCommand() throws Exception {
    Path java = javaThatSays("25.0.8", "#!/bin/sh\necho \"$@\"\n");
    Map<String, String> saying = Map.of("ERDA_JAVA_HOME", java.toString());
    Set<String> different = new TreeSet<>();
    for (String command : List.of("get", "server", "simulate", "verify")) {
      String flags = flags(tree.run(saying, command));
      assertEquals(flags, flags(tree.run(saying, "-v", command)));
      different.add(flags);
    }
    assertEquals(4, different.size(), different::toString);
  }

  /** A JVM takes no two collectors. */
  @Test
  void aCollectorOfTheUsersTakesThePlaceOfOurs() throws Exception {
    Map<String, String> another = Map.of("ERDA_JAVA_OPTS", "-XX:+UseParallelGC");
    for (String line : List.of("--version", "get --help", "server --help", "verify --help")) {
      UnpackedTree.Ended ended = tree.run(another, line.split(" "));
      assertEquals(0, ended.exitCode(), ended::toString);
    }
  }

  @Test
  void whatThePagesLinkToIsPacked() throws IOException {
    Pattern link = Pattern.compile("\\]\\(([^):#\\s]+)(#[^)]*)?\\)");
    int count = 0;
    Set<String> missing = new TreeSet<>();
    for (String name : filesAtFirst.keySet()) {
      if (name.endsWith(".md")) {
        Path page = tree.resolve(name);
        Matcher links = link.matcher(Files.readString(page));
        while (links.find()) {
          count++;
          if (!Files.exists(page.resolveSibling(links.group(1)))) {
            missing.add(name + ": " + links.group(1));
          }
        }
      }
    }
    assertTrue(count > 100, "links found: " + count);
    assertEquals(Set.of(), missing);
  }

  @Test
  void completionsHaveTheInstalledName() throws IOException {
    for (String shell : List.of("bash", "zsh", "fish")) {
      String script = Files.readString(tree.resolve("completions/erda." + shell));
      assertTrue(script.contains("erda"), shell);
      assertFalse(script.contains("./erda"), shell);
    }
  }

  private static String flags(UnpackedTree.Ended said) {
    return said.out().substring(0, said.out().indexOf("io.erda.launcher.Main"));
  }

  /** The help of a command whose classes need what is not on the class path. */
  @Test
  void helpDoesWithoutYcsb() throws Exception {
    for (String line : List.of("--help", "-v --help", "completion bash")) {
      UnpackedTree.Ended help = tree.run(NOTHING, line.split(" "));
      assertEquals(0, help.exitCode(), help::toString);
      assertTrue(help.out().contains("ycsb"), help::out);
    }
  }

  /** The classes without the module descriptors: what they need is looked for on the class path. */
  @Test
  void theRuntimeHasTheModulesThatTheJarsNeed() throws Exception {
    Path classes = Files.createDirectory(stores.resolve("classes"));
    for (Path jar : jars()) {
      unpackClasses(jar, classes);
    }
    StringWriter out = new StringWriter();
    int exitCode =
        ToolProvider.findFirst("jdeps")
            .orElseThrow()
            .run(
                new PrintWriter(out, true),
                new PrintWriter(out, true),
                "--ignore-missing-deps",
                "--print-module-deps",
                classes.toString());
    assertEquals(0, exitCode, out::toString);
    Set<String> needed = new TreeSet<>(List.of(out.toString().strip().split(",")));
    assertTrue(needed.contains("jdk.jfr"), needed::toString);
    needed.removeAll(List.of(System.getProperty("erda.runtime.modules").split(",")));
    needed.remove("java.desktop"); // of which Jackson uses an annotation where it is there
    assertEquals(Set.of(), needed);
  }

  @Test
  void everyLibraryIsNamedWithItsLicence() throws IOException {
    String page = Files.readString(tree.resolve("THIRD-PARTY.md"));
    for (Path jar : jars()) {
      String name = jar.getFileName().toString().replaceFirst("-\\d.*", "");
      boolean ours =
          Files.exists(Path.of("..", name, "pom.xml"))
              || name.startsWith("erda-")
                  && Files.exists(Path.of("..", name.substring("erda-".length()), "pom.xml"));
      assertTrue(ours || page.contains("`" + name + "`"), name);
    }
  }

  /** The licence in a jar's manifest is on the page, in the row of the jar. */
  @Test
  void licencesAreThoseThatTheJarsDeclare() throws IOException {
    Map<String, String> names =
        Map.of(
            "apache", "Apache-2.0",
            "bsd-3-clause", "BSD-3-Clause",
            "bsd-2-clause", "BSD-2-Clause",
            "publicdomain/zero", "CC0-1.0",
            "/mit", "MIT",
            "epl-2.0", "EPL-2.0",
            "lgpl-3", "LGPL-3.0");
    int declared = 0;
    for (Path jar : jars()) {
      String name = jar.getFileName().toString().replaceFirst("-\\d.*", "");
      String licence = declaredLicence(jar);
      for (Map.Entry<String, String> each : names.entrySet()) {
        if (licence.contains(each.getKey())) {
          assertTrue(row(name).contains(each.getValue()), name + ": " + licence);
          declared++;
        }
      }
    }
    assertTrue(declared > 15, "only " + declared + " licences are declared");
  }

  /** Libraries that a jar has in it, under other package names, are named in the row of the jar. */
  @Test
  void whatIsInsideOfAJarIsNamed() throws IOException {
    int found = 0;
    for (Path jar : jars()) {
      String name = jar.getFileName().toString().replaceFirst("-\\d.*", "");
      try (ZipFile zip = new ZipFile(jar.toFile())) {
        Enumeration<? extends ZipEntry> entries = zip.entries();
        while (entries.hasMoreElements()) {
          Matcher inside = INSIDE.matcher(entries.nextElement().getName());
          if (inside.matches() && !name.startsWith("erda-")) {
            assertTrue(row(name).contains("`" + inside.group(1) + "`"), name + ": " + inside);
            found++;
          }
        }
      }
    }
    assertTrue(found > 10, "found " + found);
  }

  private static String declaredLicence(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      Manifest manifest = file.getManifest();
      String licence =
          manifest == null ? null : manifest.getMainAttributes().getValue("Bundle-License");
      return licence == null ? "" : licence.toLowerCase(Locale.ROOT);
    }
  }

  /** The line of the page's table that has a jar. */
  private static String row(String jar) throws IOException {
    return Files.readString(tree.resolve("THIRD-PARTY.md"))
        .lines()
        .filter(line -> line.startsWith("| ") && line.split("\\|")[2].contains("`" + jar + "`"))
        .findFirst()
        .orElseThrow(() -> new AssertionError(jar + " is not named"));
  }

  private static List<Path> jars() throws IOException {
    return concatenated("app/lib", "app/lib/laboratory", "app/lib/laboratory/ycsb");
  }

  private static List<Path> concatenated(String... directories) throws IOException {
    List<Path> all = new ArrayList<>();
    for (String directory : directories) {
      all.addAll(jars(directory));
    }
    return all;
  }

  private static List<Path> jars(String path) throws IOException {
    try (Stream<Path> files = Files.list(tree.resolve(path))) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }

  private static List<String> classesOfYcsb(Path jar) throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      return zip.stream()
          .map(ZipEntry::getName)
          .filter(name -> OF_YCSB.matcher(name).matches())
          .toList();
    }
  }

  private static void unpackClasses(Path jar, Path into) throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      Enumeration<? extends ZipEntry> entries = zip.entries();
      while (entries.hasMoreElements()) {
        ZipEntry entry = entries.nextElement();
        String name = entry.getName();
        Path file = into.resolve(name).normalize();
        boolean isClass = name.endsWith(".class") && !name.endsWith("module-info.class");
        if (isClass && !name.startsWith("META-INF/") && file.startsWith(into)) {
          Files.createDirectories(file.getParent());
          Files.write(file, zip.getInputStream(entry).readAllBytes());
        }
      }
    }
  }

  private Path javaThatSays(String version, String script) throws IOException {
    Path home = Files.createDirectory(stores.resolve("java-" + version));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    Path java = Files.createDirectory(home.resolve("bin")).resolve("java");
    Files.writeString(java, script);
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    return home;
  }
}
