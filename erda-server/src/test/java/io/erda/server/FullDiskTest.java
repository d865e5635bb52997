package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A full disk, and a file-size limit (rule 6): errors have types, reads and deletes work, new
 * clients and servers can start, and writing works again when there is space.
 *
 * <p>The small file system is mounted in a mount namespace of the child, which the kernel removes
 * with the child. Where this user may not make one, that test is skipped.
 */
@Tag("long")
class FullDiskTest {
  private static final String UNSHARE = "unshare --user --map-root-user --mount ";

  @TempDir Path directory;

  @Test
  void aFullDiskIsReadAndDeletedFromByNewClientsAndNewServers() throws Exception {
    String output = runOnASmallDisk("disk");
    assertTrue(output.contains("one too many: ") && output.contains("restarted"), output);
  }

  @Test
  void aFullDiskUnderAStoreInOneJvm() throws Exception {
    runOnASmallDisk("embedded");
  }

  @Test
  void aTableThatFindsNoRoomToGrow() throws Exception {
    runOnASmallDisk("table");
  }

  @Test
  void aFullDiskIsCleaned() throws Exception {
    String output = runOnASmallDisk("cleaned");
    assertTrue(output.contains("restarted"), output);
  }

  @Test
  void aDiskWithoutRoomForAnotherRegionSaysThatItCantBeCleaned() throws Exception {
    runOnASmallDisk("blocked");
  }

  @Test
  void noStoreIsCreatedThatCouldNotBeCleaned() throws Exception {
    String output = runOnASmallDisk("created");
    assertTrue(output.contains("refused: ") && output.contains("--region-bytes"), output);
  }

  @Test
  void aStoppedClientHoldsNoDiskSpace() throws Exception {
    runOnASmallDisk("stopped-client");
  }

  @Test
  void aWriterStoppedInAWriteIsToldThatTheDiskIsFull() throws Exception {
    runOnADisk("64m", "stopped-writer");
  }

  /** It says that it has no room at all. */
  @Test
  void aFileSystemWithoutALimitIsNotFull() throws Exception {
    runOnADisk("0", "unlimited");
  }

  private String runOnASmallDisk(String scenario) throws Exception {
    return runOnADisk("16m", scenario);
  }

  private String runOnADisk(String size, String scenario) throws Exception {
    String mount = "mount -t tmpfs -o size=" + size + " erda-test " + directory;
    Assumptions.assumeTrue(
        new ProcessBuilder("sh", "-c", UNSHARE + "sh -c '" + mount + "'").start().waitFor() == 0,
        "no mount namespaces for this user");
    return run(UNSHARE + "sh -c '" + mount + " && exec \"$@\"' sh ", scenario);
  }

  @Test
  void aServerThatMayMakeNoRegionSaysSo() throws Exception {
    // Blocks of 512 bytes: 512 KiB, less than a region of 1 MiB. A registry of 2 MiB must be there.
    FullDiskScenario.serve(directory).close();
    String output = run("ulimit -f 1024; exec ", "limited-server");
    assertTrue(output.contains("full after 0 puts: "), output);
    // Found by a review: it was called a full disk, and nothing else.
    assertTrue(output.contains("the file-size limit of the process that asked"), output);
  }

  @Test
  void aClientThatMayMakeNoQueueFileTakesASpare() throws Exception {
    ErdaServer server = FullDiskScenario.serve(directory);
    try {
      run("ulimit -f 128; exec ", "limited-client");
    } finally {
      server.close();
    }
  }

  private String run(String before, String scenario) throws Exception {
    Path output = directory.resolveSibling(directory.getFileName() + ".out");
    // A file that the limit would cut short is no place for the output of the limited.
    List<String> command =
        ChildJvm.command(
            List.of("sh", "-c", before + "\"$@\"", "sh"),
            FullDiskScenario.class,
            scenario,
            directory.toString());
    try {
      int code = ChildJvm.run(command, output, 300);
      assertEquals(0, code, () -> (code < 0 ? "hangs: " : "") + text(output));
      assertFalse(text(output).contains("Exception"), () -> text(output));
      assertTrue(text(output).endsWith("done\n"), () -> text(output));
      return text(output);
    } finally {
      Files.deleteIfExists(output);
    }
  }

  private static String text(Path output) {
    try {
      return Files.readString(output, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
