package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.eval.load.LoadResult;
import io.erda.eval.peers.process.KeyChoice;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSetup;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.peers.store.PeerStore;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each system that Erda is measured beside, in processes as the measurement starts them, with a
 * handful of keys. The jars of others are not part of the build: {@code ./erda eval run peers} has
 * fetched them, or the test is skipped.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("long")
class PeersTest {
  private static final int KEYS = 300;
  private static final int VALUE_BYTES = 104;
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private final Children children = new Children();
  private final PeerLibraries libraries = libraries();

  @TempDir Path directory;

  @AfterEach
  void end() {
    children.close();
  }

  @ParameterizedTest
  @EnumSource(names = "NOTHING", mode = EnumSource.Mode.EXCLUDE)
  void whatWasPutIsThereAfterAKillAsTheStoreSays(PeerSystem system) {
    boolean keeps;
    try (PeerProcess process = start(system, KEYS, false)) {
      process.load();
      process.verify();
      assertTrue(process.put(Duration.ofMillis(20)) > 0);
      assertTrue(process.get(Duration.ofMillis(20)) > 0);
      keeps = keeps(process);
    }
    try (PeerProcess process = start(system, KEYS, false)) {
      if (keeps) {
        assertDoesNotThrow(process::verify);
      } else {
        assertMissing(0, process);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatWasPutManyAtOnceIsThere(PeerSystem system) {
    assumeTrue(system.pipelines(), system.title() + " has no such thing");
    try (PeerProcess process = start(system, KEYS, true)) {
      process.load(); // the last batch is not full
      assertDoesNotThrow(process::verify);
    }
  }

  @ParameterizedTest
  @EnumSource(names = "NOTHING", mode = EnumSource.Mode.EXCLUDE)
  void aKeyThatWasNotPutIsMissed(PeerSystem system) {
    try (PeerProcess process = start(system, KEYS, false)) {
      assumeTrue(keeps(process), system.title() + " keeps nothing");
      process.load();
    }
    try (PeerProcess process = start(system, KEYS + 1, false)) {
      assertMissing(KEYS, process);
    }
  }

  @ParameterizedTest
  @EnumSource
  void ycsbAndAPaceEndWithoutErrors(PeerSystem system) {
    try (PeerProcess process = start(system, KEYS, false)) {
      assertEquals(KEYS, process.ycsbLoad("workloadc").updates());
      assertDoesNotThrow(process::verify);
      LoadResult result = process.ycsb("workloada", Duration.ofMillis(50));
      assertEquals(0, result.errors());
      assertEquals(result.operations(), result.read().count() + result.update().count());
      assertEquals(result.updates(), result.update().count());
      assertTrue(result.updates() > 0 && result.read().count() > 0, result::toString);
      LoadResult paced = process.paced(Duration.ofMillis(20), Duration.ofMillis(1));
      assertEquals(20, paced.operations());
      assertEquals(10, paced.read().count());
      assertEquals(10, paced.update().count());
      assertDoesNotThrow(process::verify);
    }
  }

  @ParameterizedTest
  @EnumSource(
      names = {"LMDB", "ROCKSDB"},
      mode = EnumSource.Mode.EXCLUDE)
  void severalThreadsUseOneStore(PeerSystem system) {
    try (PeerProcess process = start(system, KEYS, false)) {
      assertTrue(process.inserts(2, KEYS, Duration.ofSeconds(10)) > 0);
      assertDoesNotThrow(process::verify);
      for (KeyChoice keys : KeyChoice.values()) {
        assertTrue(process.threads(3, 50, keys, Duration.ofMillis(50)) > 0);
      }
      assertDoesNotThrow(process::verify);
    }
  }

  private static boolean keeps(PeerProcess process) {
    return !process.durability().equals(PeerStore.NO_DURABILITY);
  }

  private static void assertMissing(int object, PeerProcess process) {
    ProcessException missed = assertThrows(ProcessException.class, process::verify);
    assertTrue(
        missed.getMessage().contains("object " + object + " is not there"), missed::toString);
  }

  /** Native libraries are unpacked; a killed process removes nothing, but its store is removed. */
  @ParameterizedTest
  @EnumSource(names = {"CHRONICLE_MAP", "CHRONICLE_MAP_SHARED", "LMDB", "ROCKSDB"})
  void whatASystemUnpacksLiesBesideItsStore(PeerSystem system) throws IOException {
    try (PeerProcess process = start(system, KEYS, false)) {
      process.load();
      Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
      List<Path> elsewhere =
          Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "maps")).stream()
              .filter(line -> line.endsWith(".so"))
              .map(line -> Path.of(line.substring(line.indexOf('/'))))
              .filter(file -> file.startsWith(temporary) && !file.startsWith(directory))
              .distinct()
              .toList();
      assertEquals(List.of(), elsewhere);
    }
  }

  private PeerProcess start(PeerSystem system, long objects, boolean pipelined) {
    assumeTrue(
        libraries.missing(system).isEmpty(), () -> libraries.missing(system).orElse("it is there"));
    return PeerProcess.start(
        new PeerSetup(
            children,
            Jvm.current(),
            libraries,
            system,
            directory,
            objects,
            VALUE_BYTES,
            pipelined));
  }

  /**
   * Those that the last build of {@code ./erda} has, unless their adapters are older than sources.
   */
  private static PeerLibraries libraries() {
    try {
      Path builds = ROOT.resolve("target/erda");
      Path peers =
          builds.resolve(Files.readString(builds.resolve("current")).strip()).resolve("peers");
      FileTime made = Files.getLastModifiedTime(peers.resolve("adapters.jar"));
      return PeerLibraries.listed(
          isOlderThanSources(made) ? Path.of("none") : peers.resolve("classpath"));
    } catch (IOException e) {
      return PeerLibraries.listed(Path.of("none"));
    }
  }

  private static boolean isOlderThanSources(FileTime made) throws IOException {
    for (String sources :
        new String[] {"peers/src/main", "eval/src/main/java/io/erda/eval/peers/store"}) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(sources))) {
        for (Path file : files.toList()) {
          if (Files.getLastModifiedTime(file).compareTo(made) > 0) {
            return true;
          }
        }
      }
    }
    return false;
  }
}
