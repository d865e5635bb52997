package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes of several users in one directory: real ones, which only the superuser can start. Each
 * connection works, or fails with a right reason. Skipped for other users.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmUsersTest {
  private static final int SERVER = 65534;
  private static final int OTHER = 12345;
  private static final int GROUP = 4242;
  private static final int STICKY = 01000;

  @TempDir private Path directory;

  private final List<Process> processes = new ArrayList<>();
  private Path served;

  @BeforeEach
  void requireSuperuser() throws Exception {
    Assumptions.assumeTrue(
        Files.getAttribute(directory, "unix:uid").equals(0), "only the superuser has other users");
    Path classes =
        Path.of(ShmPeer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    Assumptions.assumeTrue(
        run(List.of("--reuid=" + SERVER, "--clear-groups"), "test", "-x", classes.toString()) == 0,
        () -> "other users can't read " + classes);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.createDirectory(directory.resolve("data"));
    served = directory.resolve("data").resolve("shm");
    Files.createDirectory(served);
  }

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly();
      process.waitFor(10, TimeUnit.SECONDS);
    }
  }

  /** The superuser's queue file is given to the directory's owner, whose server opens it. */
  @Test
  void theSuperusersToolReachesAUsersServer() throws Exception {
    own(SERVER, SERVER, 0700);
    serve(List.of("--reuid=" + SERVER, "--regid=" + SERVER, "--clear-groups"));
    assertEquals("success", says(start(List.of(), "077", "sleep")));
  }

  /** A file that a member makes belongs to the group, whatever the umask is. */
  @Test
  void aMemberOfTheGroupWritesWhateverTheUmask() throws Exception {
    own(SERVER, GROUP, 03770);
    serve(List.of("--reuid=" + SERVER, "--regid=" + GROUP, "--clear-groups"));
    BufferedReader client =
        start(List.of("--reuid=" + OTHER, "--regid=" + OTHER, "--groups=" + GROUP), "077", "write");
    assertEquals("success", says(client));
    assertEquals("writing", says(client));
  }

  /**
   * A client that may make no file of that size takes one of the server's, which it can't rename.
   */
  @Test
  void aMemberOfTheGroupTakesASpareOfTheServers() throws Exception {
    own(SERVER, GROUP, 03770);
    serve(List.of("--reuid=" + SERVER, "--regid=" + GROUP, "--clear-groups"));
    List<String> member = List.of("--reuid=" + OTHER, "--regid=" + OTHER, "--groups=" + GROUP);
    BufferedReader client = start(member, "077; ulimit -f 64", "write");
    assertEquals("success", says(client));
    assertEquals("writing", says(client));
  }

  /** A member can remove only his own files; the server can remove any file. */
  @Test
  void aMemberOfTheGroupRemovesNothingOfTheServers() throws Exception {
    own(SERVER, GROUP, 03770);
    List<String> owner = List.of("--reuid=" + SERVER, "--regid=" + GROUP, "--clear-groups");
    List<String> member = List.of("--reuid=" + OTHER, "--regid=" + OTHER, "--groups=" + GROUP);
    serve(owner);
    for (String file : List.of("socket", "registry")) {
      assertNotEquals(0, run(member, "rm", served.resolve(file).toString()), file);
    }
    String his = served.resolve("his").toString();
    for (List<String> user : List.of(member, owner)) {
      assertEquals(0, run(member, "touch", his));
      assertEquals(0, run(user, "rm", his));
    }
  }

  /** The server's user is not of the group that the directory belongs to. */
  @Test
  void aServerThatMayNotOpenAClientsFileSaysSo() throws Exception {
    own(SERVER, GROUP, 03770);
    serve(List.of("--reuid=" + SERVER, "--regid=" + SERVER, "--clear-groups"));
    assertEquals(
        "permission denied",
        says(
            start(
                List.of("--reuid=" + OTHER, "--regid=" + OTHER, "--groups=" + GROUP),
                "077",
                "sleep")));
  }

  @Test
  void whoMayNotEnterIsToldSo() throws Exception {
    own(SERVER, SERVER, 0700);
    List<String> owner = List.of("--reuid=" + SERVER, "--regid=" + SERVER, "--clear-groups");
    List<String> other = List.of("--reuid=" + OTHER, "--regid=" + OTHER, "--clear-groups");
    // While no server has the lock: then it is the mode that keeps others from it.
    String[] lock = {"flock", "-n", served.toString(), "true"};
    assertEquals(0, run(owner, lock));
    assertNotEquals(0, run(other, lock), "it can be locked");
    serve(owner);
    assertEquals("permission denied", says(start(other, "022", "sleep")));
  }

  /**
   * A member may not write to the region, but may connect. His WRITE fails with a status that shows
   * that.
   */
  @Test
  void aRegionThatMayNotBeWrittenIsNoDamage() throws Exception {
    own(SERVER, GROUP, 03770);
    serve(List.of("--reuid=" + SERVER, "--regid=" + GROUP, "--clear-groups"));
    Path region = directory.resolve("data").resolve("region");
    Files.setPosixFilePermissions(region, PosixFilePermissions.fromString("rw-r-----"));
    BufferedReader client =
        start(List.of("--reuid=" + OTHER, "--regid=" + OTHER, "--groups=" + GROUP), "077", "write");
    assertEquals("success", says(client));
    assertEquals("write permission denied, read success", says(client));
  }

  private void own(int user, int group, int mode) throws IOException {
    for (Path each : List.of(served.getParent(), served)) {
      Files.setAttribute(each, "unix:uid", user);
      Files.setAttribute(each, "unix:gid", group);
      Files.setAttribute(each, "unix:mode", each.equals(served) ? mode : mode & ~STICKY);
    }
  }

  private void serve(List<String> user) throws Exception {
    BufferedReader server = start(user, "007", "serve");
    assertEquals("ready", says(server));
  }

  private int run(List<String> user, String... command) throws Exception {
    List<String> all = new ArrayList<>(List.of("setpriv"));
    all.addAll(user);
    all.addAll(List.of(command));
    return new ProcessBuilder(all).start().waitFor();
  }

  /** Starts {@link ShmPeer} as a process of another user, and returns its output. */
  private BufferedReader start(List<String> user, String umask, String how) throws IOException {
    List<String> command = new ArrayList<>();
    if (!user.isEmpty()) {
      command.add("setpriv");
      command.addAll(user);
    }
    command.addAll(List.of("sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"));
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            ShmPeer.class.getName(),
            how,
            served.toString(),
            directory.resolve("data").resolve("region").toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(Path.of("/").toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    processes.add(process);
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static String says(BufferedReader output) throws IOException {
    String line = output.readLine();
    assertNotNull(line, "the process ended");
    assertTrue(!line.isEmpty());
    return line.equals("accepted") ? says(output) : line;
  }
}
