package io.erda.launcher;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import io.erda.console.LaunchSettings;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the options of a server, and signals, do to its process. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ServerProcessTest {
  private static final List<String> SMALL =
      List.of("--region-bytes", "1M", "--segment-bytes", "256K", "--capacity", "32M");

  /** A user and a group of every Debian, the group not the user's own. */
  private static final String USER = "daemon";

  private static final String GROUP = "adm";

  @TempDir Path directory;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private Path data() {
    return directory.resolve("made/data");
  }

  private String text(String stream) {
    try {
      return Files.readString(directory.resolve(stream));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process server(List<String> before, String classPath, String... more) throws IOException {
    List<String> words = new ArrayList<>(before);
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(LaunchSettings.load().jvmFlags());
    words.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath));
    words.addAll(List.of("io.erda.launcher.Main", "server", "--data", data().toString()));
    words.addAll(SMALL);
    words.addAll(List.of(more));
    Process process =
        new ProcessBuilder(words)
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(directory.resolve("err").toFile())
            .start();
    processes.add(process);
    return process;
  }

  private Process serving(List<String> before, String classPath, String... more) throws Exception {
    Process server = server(before, classPath, more);
    for (int i = 0; i < 6000 && !text("out").contains("serving "); i++) {
      assertTrue(server.isAlive(), () -> text("err"));
      Thread.sleep(10);
    }
    assertTrue(text("out").contains("serving "), () -> text("err"));
    return server;
  }

  private static int awaitEnd(Process process) throws InterruptedException {
    assertTrue(process.waitFor(2, TimeUnit.MINUTES), "it does not end");
    return process.exitValue();
  }

  private static String classPath() {
    return System.getProperty("java.class.path");
  }

  /** The values of a line of all threads' status. */
  private static Set<String> ofThreads(Process process, String name) throws IOException {
    Set<String> all = new TreeSet<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + process.pid(), "task"))) {
      for (Path task : tasks.toList()) {
        for (String line : Files.readAllLines(task.resolve("status"))) {
          if (line.startsWith(name + ":")) {
            all.add(line.substring(name.length() + 1).strip().replace('\t', ' '));
          }
        }
      }
    }
    return all;
  }

  /** The nicenesses of all threads but that which tends pages, which steps behind the others. */
  private static Set<Integer> nicenesses(Process process) throws IOException {
    Set<Integer> all = new TreeSet<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + process.pid(), "task"))) {
      for (Path task : tasks.toList()) {
        String line = Files.readString(task.resolve("stat"));
        String[] behindTheName = line.substring(line.lastIndexOf(')') + 2).split(" ");
        if (!line.contains("(erda-pages)")) {
          all.add(Integer.valueOf(behindTheName[16]));
        }
      }
    }
    return all;
  }

  private Set<String> modesOfFiles() throws IOException {
    Set<String> modes = new TreeSet<>();
    try (Stream<Path> files = Files.list(data())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        modes.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      }
    }
    return modes;
  }

  @ParameterizedTest
  @CsvSource({"077, rw-------", "007, rw-rw----"})
  void niceAndUmaskAreThoseOfTheWholeProcess(String umask, String mode) throws Exception {
    // The test's own process may be nice already, and can't be less so.
    String nice = Integer.toString(19);
    Process server = serving(List.of(), classPath(), "--nice", nice, "--umask", umask);
    assertEquals(Set.of(19), nicenesses(server));
    assertEquals(Set.of(mode), modesOfFiles());
    server.destroy();
    assertEquals(0, awaitEnd(server), () -> text("err"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--nice 20",
        "--nice -21",
        "--umask 777",
        "--umask 8",
        "--umask -7",
        "--umask 0100",
        "--user :" + GROUP,
        "--user " + USER + ":",
        "--user no-such-user-here",
        "--user " + USER + ":no-such-group-here"
      })
  void whatCanNotBeIsOneLineAndChangesNothing(String options) {
    StringWriter err = new StringWriter();
    List<String> words = new ArrayList<>(List.of("server", "--data", data().toString()));
    words.addAll(List.of(options.split(" ")));
    int exitCode =
        Main.run(
            new PrintWriter(new StringWriter()),
            new PrintWriter(err),
            false,
            words.toArray(String[]::new));
    assertEquals(2, exitCode, err::toString);
    assertEquals(1, err.toString().lines().count(), err::toString);
    assertTrue(err.toString().startsWith("erda: " + options.split(" ")[0]), err::toString);
    assertFalse(Files.exists(data().getParent()));
  }

  private static void assumeSuperuser(Path directory) throws IOException {
    assumeTrue(Files.getAttribute(directory, "unix:uid").equals(0), "the superuser alone can");
    UserPrincipalLookupService names = FileSystems.getDefault().getUserPrincipalLookupService();
    try {
      names.lookupPrincipalByName(USER);
      names.lookupPrincipalByGroupName(GROUP);
    } catch (UserPrincipalNotFoundException e) {
      assumeTrue(false, "no " + e.getName() + " is known here");
    }
  }

  /**
   * The class path with copies of what the superuser alone can read, without what tests need, and
   * with a way to them for all.
   */
  private String classPathForAll() throws IOException {
    Path copies = Files.createDirectory(directory.resolve("program"));
    for (Path each : List.of(directory, copies)) {
      Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    List<String> parts = new ArrayList<>();
    int number = 0;
    for (String part : classPath().split(File.pathSeparator)) {
      Path file = Path.of(part).toAbsolutePath();
      if (!Files.exists(file) || part.endsWith("test") || part.endsWith("test-classes")) {
        continue;
      }
      if (isForAll(file)) {
        parts.add(file.toString());
        continue;
      }
      Path copy = copies.resolve(number++ + "-" + file.getFileName());
      try (Stream<Path> all = Files.walk(file)) {
        for (Path each : all.toList()) {
          Files.copy(each, copy.resolve(file.relativize(each).toString()));
        }
      }
      parts.add(copy.toString());
    }
    return String.join(File.pathSeparator, parts);
  }

  private static boolean isForAll(Path file) throws IOException {
    for (Path each = file; each != null; each = each.getParent()) {
      Set<PosixFilePermission> may = Files.getPosixFilePermissions(each);
      if (!may.contains(PosixFilePermission.OTHERS_READ)
          || Files.isDirectory(each) && !may.contains(PosixFilePermission.OTHERS_EXECUTE)) {
        return false;
      }
    }
    return true;
  }

  private static Object id(String attribute, Path file) throws IOException {
    return Files.getAttribute(file, "unix:" + attribute);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theSuperuserServesAsAnotherUser(boolean withGroup) throws Exception {
    assumeSuperuser(directory);
    UserPrincipalLookupService names = FileSystems.getDefault().getUserPrincipalLookupService();
    Path probe = Files.createFile(directory.resolve("probe"));
    Files.setOwner(probe, names.lookupPrincipalByName(USER));
    Object uid = id("uid", probe);
    Path secret =
        Files.writeString(directory.resolve("secret"), "sixteen bytes at least", US_ASCII);
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "setpriv is not installed");
    Process server =
        serving(
            List.of("/usr/bin/setpriv", "--groups=0,61777"),
            classPathForAll(),
            "--listen",
            "127.0.0.1:0",
            "--secret-file",
            secret.toString(),
            "--user",
            withGroup ? USER + ":" + GROUP : USER);
    assertEquals(Set.of("%1$s %1$s %1$s %1$s".formatted(uid)), ofThreads(server, "Uid"));
    assertEquals(Set.of("0000000000000000"), ofThreads(server, "CapPrm"));
    String groups = ofThreads(server, "Groups").toString();
    assertFalse(groups.matches(".*\\b(0|61777)\\b.*"), groups);
    if (withGroup) {
      Files.getFileAttributeView(probe, PosixFileAttributeView.class)
          .setGroup(names.lookupPrincipalByGroupName(GROUP));
      Object gid = id("gid", probe);
      assertEquals(Set.of("%1$s %1$s %1$s %1$s".formatted(gid)), ofThreads(server, "Gid"));
      assertEquals(gid, id("gid", data().resolve("superblock")));
    }
    for (Path each : List.of(data(), data().resolve("superblock"), data().resolve("shm"))) {
      assertEquals(uid, id("uid", each), each::toString);
    }
    assertEquals(uid, id("uid", Path.of("/proc", "" + server.pid(), "fd")), "others may look");
    String uri = text("out").replaceFirst("(?s).*(erda://\\S+) .*", "$1");
    try (ErdaClient erda = ErdaClient.connect(uri + "?secret-file=" + secret)) {
      erda.put("k".getBytes(UTF_8), "v".getBytes(UTF_8));
      assertArrayEquals("v".getBytes(UTF_8), erda.get("k".getBytes(UTF_8)));
    }
    server.destroy();
    assertEquals(0, awaitEnd(server), () -> text("err"));
    assertTrue(Files.exists(data().resolve("stopped")));
  }

  @Test
  void aStoreOfSomebodyElseIsRefusedAndStays() throws Exception {
    assumeSuperuser(directory);
    Files.createDirectories(data());
    Process server = server(List.of(), classPath(), "--user", USER);
    assertEquals(1, awaitEnd(server), () -> text("err"));
    assertTrue(
        text("err").contains("is to be served by the user %s: chown -R".formatted(USER)),
        () -> text("err"));
    assertEquals(1, text("err").lines().count(), () -> text("err"));
    try (Stream<Path> files = Files.list(data())) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void aProgramThatTheUserCanNotReadIsNamed() throws Exception {
    assumeSuperuser(directory);
    String all = classPathForAll();
    Path hidden = Files.createDirectory(directory.resolve("hidden"));
    Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rwx------"));
    Path jar = Files.createFile(hidden.resolve("more.jar"));
    Process server = server(List.of(), all + File.pathSeparator + jar, "--user", USER);
    assertEquals(1, awaitEnd(server), () -> text("err"));
    assertTrue(
        text("err").startsWith("erda: the user %s may not read %s".formatted(USER, jar)),
        () -> text("err"));
    assertEquals(1, text("err").lines().count(), () -> text("err"));
  }

  /** Found by a review: the message named only the directory that the server had made. */
  @Test
  void aUmaskThatTakesTheOwnersRightsIsNamed() throws Exception {
    boolean superuser = Files.getAttribute(directory, "unix:uid").equals(0);
    assumeTrue(!superuser || Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv");
    List<String> before = new ArrayList<>();
    if (superuser) {
      // Without capabilities the permissions of files count for the superuser, too.
      before.addAll(List.of("/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all"));
    }
    before.addAll(List.of("sh", "-c", "umask 0777; exec \"$@\"", "sh"));
    Process server = server(before, classPath());
    assertEquals(1, awaitEnd(server), () -> text("err"));
    assertTrue(text("err").startsWith("erda: permission denied: " + data()), () -> text("err"));
    assertTrue(
        text("err")
            .endsWith(
                "; the umask of this process takes the owner's own rights to the directories that"
                    + " it makes: umask 077\n"),
        () -> text("err"));
    assertEquals(1, text("err").lines().count(), () -> text("err"));
    assertTrue(Files.notExists(directory.resolve("made")), "the outer directory is left");
  }

  @Test
  void whoIsNotTheSuperuserIsToldSo() throws Exception {
    boolean superuser = Files.getAttribute(directory, "unix:uid").equals(0);
    assumeTrue(!superuser || Files.isExecutable(Path.of("/usr/bin/setpriv")), "no setpriv");
    List<String> before =
        superuser
            ? List.of(
                "/usr/bin/setpriv",
                "--reuid=61234",
                "--regid=61234",
                "--clear-groups",
                "--inh-caps=+dac_override",
                "--ambient-caps=+dac_override")
            : List.of();
    Process server = server(before, classPath(), "--user", USER);
    assertEquals(2, awaitEnd(server), () -> text("err"));
    assertTrue(
        text("err").startsWith("erda: --user goes with the superuser, and this process is of the "),
        () -> text("err"));
    assertEquals(1, text("err").lines().count(), () -> text("err"));
    assertFalse(Files.exists(data()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"HUP", "INT", "TERM", "USR1", "XCPU", "PWR"})
  void theLogSaysWhichSignalEndedIt(String signal) throws Exception {
    Process server = serving(List.of("env", "--default-signal"), classPath());
    signal(signal, server);
    assertEquals(0, awaitEnd(server), () -> text("err"));
    List<String> lines = text("err").lines().toList();
    assertTrue(lines.get(lines.size() - 2).endsWith(" INFO is told to end by SIG" + signal));
    assertTrue(lines.getLast().endsWith(" INFO ended"), () -> text("err"));
  }

  @Test
  void hangUpIsIgnoredByWhoWasStartedToIgnoreIt() throws Exception {
    Process server = serving(List.of("env", "--ignore-signal=HUP"), classPath());
    signal("HUP", server);
    signal("TERM", server);
    assertEquals(0, awaitEnd(server), () -> text("err"));
    assertTrue(text("err").contains("is told to end by SIGTERM"), () -> text("err"));
    assertFalse(text("err").contains("SIGHUP"), () -> text("err"));
  }

  private static void signal(String name, Process process) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor());
  }
}
