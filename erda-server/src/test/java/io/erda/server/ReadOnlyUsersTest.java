package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Another user, who may only read a store's files: a process that root starts. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadOnlyUsersTest {
  private static final List<String> USER =
      List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups");
  private static final int KEYS = 300;

  @TempDir private Path directory;

  private Path data;
  private Process process;
  private PrintStream to;
  private BufferedReader from;

  @BeforeEach
  void startAsAnotherUser() throws Exception {
    assumeTrue(
        Files.getAttribute(directory, "unix:uid").equals(0), "only the superuser has other users");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    data = directory.resolve("data");
    List<String> command = new ArrayList<>(USER);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp",
            readableClassPath(),
            ReadingUser.class.getName()));
    process =
        new ProcessBuilder(command)
            .directory(Path.of("/").toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    to = new PrintStream(process.getOutputStream(), true, UTF_8);
    from = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  /** Jars of the local repository are not readable for other users, so all of them are copied. */
  private String readableClassPath() throws IOException {
    Path jars = Files.createDirectory(directory.resolve("jars"));
    List<String> readable = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry);
      if (Files.isRegularFile(path)) {
        Path copy = jars.resolve(readable.size() + "-" + path.getFileName());
        Files.copy(path, copy);
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
        readable.add(copy.toString());
      } else {
        readable.add(entry);
      }
    }
    return String.join(File.pathSeparator, readable);
  }

  @AfterEach
  void endIt() throws InterruptedException {
    if (process != null) {
      process.destroyForcibly();
      process.waitFor(10, TimeUnit.SECONDS);
    }
  }

  private String ask(String what) throws IOException {
    to.println(what);
    String said = from.readLine();
    assumeTrue(said != null, "the other user can't run what is tested");
    return said;
  }

  private ErdaServer serve(int mode) {
    return ErdaServer.start(data, SmallStore.OPTIONS.withMode(mode));
  }

  private static void fill(ErdaServer server, String value) {
    try (ErdaClient erda = ErdaClient.connect(server.uri())) {
      for (int i = 0; i < KEYS; i++) {
        erda.put(("key " + i).getBytes(UTF_8), value.getBytes(UTF_8));
      }
    }
  }

  private String uri() {
    return "erda+shm:" + data + "?read-only";
  }

  @Test
  void whoMayReadTheFilesReadsTheStore() throws Exception {
    try (ErdaServer server = serve(0755)) {
      fill(server, "first");
      assertEquals("connected", ask("connect " + uri()));
      assertEquals("first", ask("get key 7"));
      assertEquals("absent", ask("get none"));
      assertEquals(KEYS + " keys", ask("keys"));
      fill(server, "second");
      assertEquals("second", ask("get key 7"));
      String said = ask("put key 7");
      assertTrue(said.startsWith("ReadOnly: put: "), said);
    }
    assertEquals("second", ask("get key 7"));
    try (ErdaServer server = serve(0755)) {
      fill(server, "third");
      assertEquals("third", ask("get key 7"));
      assertEquals(KEYS + " keys", ask("keys"));
    }
    assertEquals("connected", ask("connect " + uri()));
    assertEquals("third", ask("get key 299"));
  }

  /** While no server has the lock: then it is the mode that keeps him from it. */
  @Test
  void whoMayReadTheFilesCanNotLockTheStore() throws Exception {
    serve(0755).close();
    List<String> lock = List.of("flock", "-n", data.toString(), "true");
    assertEquals(0, new ProcessBuilder(lock).start().waitFor(), "nobody has it");
    List<String> lockOfAnother = new ArrayList<>(USER);
    lockOfAnother.addAll(lock);
    assertNotEquals(0, new ProcessBuilder(lockOfAnother).start().waitFor(), "it can be locked");
    lockOfAnother.add(USER.size() + 1, "-s");
    assertNotEquals(0, new ProcessBuilder(lockOfAnother).start().waitFor(), "it can be shared");
  }

  /** The message contains the URI that works. */
  @Test
  void whoMayReadAloneIsToldHow() throws Exception {
    try (ErdaServer server = serve(0755)) {
      fill(server, "first");
      String said = ask("connect erda+shm:" + data);
      assertTrue(said.startsWith("Refused") && said.contains("?read-only"), said);
    }
  }

  /** It would not work for him. */
  @Test
  void whoMayNotReadIsNotSentToTheFiles() throws Exception {
    for (int mode : new int[] {0700, 0750, 0770}) {
      try (ErdaServer server = serve(mode)) {
        fill(server, "first");
        String said = ask("connect erda+shm:" + data);
        assertTrue(said.startsWith("Refused") && !said.contains("?read-only"), said);
      }
    }
  }

  @Test
  void whoMayNotIsRefused() throws Exception {
    try (ErdaServer server = serve(0700)) {
      fill(server, "first");
      String said = ask("connect " + uri());
      assertTrue(said.startsWith("Refused") && said.contains("may not read"), said);
    }
    try (ErdaServer server = serve(0750)) {
      fill(server, "first");
      String said = ask("connect " + uri());
      assertTrue(said.startsWith("Refused"), "he is not of the group: " + said);
    }
    serve(0755).close();
    assertEquals("connected", ask("connect " + uri()));
    assertEquals("first", ask("get key 7"));
  }
}
