package io.erda.server.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.pmem.MappedDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.ErdaException;
import io.erda.server.StoreVerifier;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.tables.TableGrowthTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Verifying a store changes nothing in it, whatever state it was left in: no byte, name, owner,
 * mode or time stamp, and needs no permission but to read.
 */
public class VerifyChangesNothingTest {
  @TempDir Path data;

  /** For {@link #permissionToReadIsEnough()}: verifies the store that is named. */
  public static void main(String[] arguments) {
    try {
      System.out.println(StoreVerifier.verify(Path.of(arguments[0])).findings());
    } catch (ErdaException e) {
      System.out.println(e);
    }
  }

  @Test
  void ofAStoreThatWasStoppedCleanly() throws IOException {
    fill(directory()).engine.close();
    requireUnchanged(data);
  }

  /** With a linking, a displacement or a commit in the middle, and files without an owner. */
  @Test
  void ofAStoreThatWasKilled() throws IOException {
    int killed = 0;
    for (int step = 150; killed < 12; step += 37, killed++) {
      killedAt(step, StoreHarness.TINY);
      Files.write(data.resolve("left-77"), new byte[1 << 16]);
      Files.write(data.resolve("table-9"), new byte[4096]);
      requireUnchanged(data);
      empty();
    }
  }

  @Test
  void ofAStoreThatWasKilledInADoubling() throws IOException {
    int doublings = 0;
    for (int step = 60; step < 1200; step += 41) {
      killedAt(step, TableGrowthTest.SMALLEST);
      try (Stream<Path> tables = Files.list(data)) {
        if (Files.exists(data.resolve(StoreFiles.SUPERBLOCK))
            && tables.filter(file -> file.getFileName().toString().startsWith("table-")).count()
                > 1) {
          doublings++;
          requireUnchanged(data);
        }
      }
      empty();
    }
    assertTrue(doublings >= 3, doublings + " kills in a doubling");
  }

  @Test
  void ofAStoreThatWasKilledInACleaning() throws IOException {
    int cleanings = 0;
    for (int step = 5; step < 400; step += 31) {
      try (MappedDirectory directory = directory()) {
        CleaningCrashTest.fill(directory);
      }
      try (MappedDirectory directory = directory()) {
        CleaningCrashTest.clean(
            StoreHarness.open(new CrashingDirectory(directory, step), CleaningCrashTest.SMALL));
      } catch (CrashingDirectory.Crash e) {
        cleanings++;
      }
      requireUnchanged(data);
      empty();
    }
    assertTrue(cleanings >= 5, cleanings + " kills in a cleaning");
  }

  @Test
  void ofAStoreThatPromisesPower() throws IOException {
    try (MappedDirectory directory = directory()) {
      directory.promise(Survives.POWER_FAILURE);
      fill(directory).engine.close();
    }
    requireUnchanged(data);
  }

  @Test
  void ofAStoreWithoutItsSuperblock() throws IOException {
    fill(directory()).engine.close();
    Files.delete(data.resolve(StoreFiles.SUPERBLOCK));
    Map<String, String> before = state(data);
    String message =
        assertThrows(ErdaException.Damaged.class, () -> StoreVerifier.verify(data)).getMessage();
    assertTrue(message.contains("no superblock") && message.contains("region-0-1"), message);
    assertEquals(before, state(data));
  }

  @Test
  void onAReadOnlyFileSystem() throws IOException {
    requireRoot();
    killedAt(333, StoreHarness.TINY);
    Path mounted = Files.createDirectory(data.resolve("read-only"));
    assumeTrue(run("mount", "--bind", data.toString(), mounted.toString()).isEmpty());
    try {
      assertEquals("", run("mount", "-o", "remount,bind,ro", data.toString(), mounted.toString()));
      assertThrows(IOException.class, () -> Files.createFile(mounted.resolve("x")));
      requireUnchanged(mounted);
    } finally {
      run("umount", mounted.toString());
    }
  }

  /** A store of another user's, and a process that may do no more than its permissions say. */
  @Test
  void permissionToReadIsEnough() throws IOException {
    requireRoot();
    killedAt(333, StoreHarness.TINY);
    assertEquals("", run("chown", "-R", "65534:65534", data.toString()));
    assertEquals("", run("chmod", "-R", "a=rX", data.toString()));
    Map<String, String> before = state(data);
    String said =
        run(
            "setpriv",
            "--bounding-set=-all",
            "--inh-caps=-all",
            System.getProperty("java.home") + "/bin/java",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            getClass().getName(),
            data.toString());
    assertEquals("[]", said.strip());
    assertEquals(before, state(data));
  }

  /** Two processes may verify at the same time, while no server has the store open. */
  @Test
  void whileSomebodyHasTheStoreItIsRefused() throws IOException {
    try (MappedDirectory directory = directory()) {
      assertTrue(directory.lock());
      fill(directory);
      Map<String, String> before = state(data);
      String message =
          assertThrows(ErdaException.Unusable.class, () -> StoreVerifier.verify(data)).getMessage();
      assertTrue(message.contains("in use"), message);
      assertEquals(before, state(data));
    }
  }

  private MappedDirectory directory() throws IOException {
    return MappedDirectory.open(data);
  }

  private static StoreHarness fill(MappedDirectory directory) {
    StoreHarness store = StoreHarness.open(directory);
    for (int i = 0; i < 30; i++) {
      store.requireOk(store.put("key" + i % 20, new byte[100 + i]));
    }
    return store;
  }

  /** Makes the files of a process that is killed right before one of its stores. */
  private void killedAt(int step, StoreGeometry geometry) throws IOException {
    try (MappedDirectory directory = directory()) {
      StoreHarness store = StoreHarness.open(new CrashingDirectory(directory, step), geometry);
      for (int i = 0; i < 1000; i++) {
        store.put("key" + i % 40, i % 7 == 0 ? null : new byte[50 + i % 100]);
      }
    } catch (CrashingDirectory.Crash e) {
      // As intended.
    }
  }

  private static void requireUnchanged(Path store) throws IOException {
    Map<String, String> before = state(store);
    List<String> findings = new ArrayList<>();
    StoreVerifier.verify(store).findings().forEach(finding -> findings.add(finding.what()));
    assertEquals(List.of(), findings);
    assertEquals(before, state(store));
  }

  /** All that a file has but the time of its last reading. */
  private static Map<String, String> state(Path directory) throws IOException {
    Map<String, String> state = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.toList()) {
        Map<String, Object> attributes =
            Files.readAttributes(
                file,
                "unix:ino,nlink,size,mode,uid,gid,lastModifiedTime,ctime",
                LinkOption.NOFOLLOW_LINKS);
        state.put(
            directory.relativize(file).toString(),
            new TreeMap<>(attributes) + (Files.isRegularFile(file) ? " " + hash(file) : ""));
      }
    }
    return state;
  }

  private static String hash(Path file) throws IOException {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private void empty() throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }

  private static void requireRoot() throws IOException {
    assumeTrue(Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0), "needs root");
  }

  /** Runs a command to its end, and returns what it printed. */
  private static String run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException(String.join(" ", command) + " does not end: " + said);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    return said;
  }
}
