package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A file system that copies on write, is full, and holds a copy of the store that shares its pages:
 * a store to a page that was allocated long ago finds no room, which is a SIGBUS. Nothing is lost,
 * gets go on, puts are refused as on a full disk, and go on by themselves when there is room.
 *
 * <p>The file system is an XFS in a file, in a mount namespace of the child. Where this user may
 * not mount one, or there is no mkfs.xfs, the test is skipped.
 */
@Tag("long")
class SharedPagesTest {
  @TempDir Path directory;

  @Test
  void aStoreThatFindsNoRoomThrowsAndDidNotHappen() throws Exception {
    run("page");
  }

  @Test
  void aServedStoreIsFullAndGoesOn() throws Exception {
    run("served");
  }

  @Test
  void anEmbeddedStoreIsFullAndGoesOn() throws Exception {
    run("embedded");
  }

  @Test
  void aFileSystemThatWasShutDownEndsNobody() throws Exception {
    run("shut-down");
  }

  /** The server's log and exit code said nothing of it. */
  @Test
  void aServerThatHasNothingToDoSeesThatItsFileSystemWasShutDown() throws Exception {
    run("shut-down-idle");
  }

  private void run(String scenario) throws Exception {
    Path mounted = Files.createDirectory(directory.resolve("mounted"));
    Path image = directory.resolve("image");
    String mount =
        "PATH=$PATH:/usr/sbin:/sbin; truncate -s 320M %s && mkfs.xfs -q -m reflink=1 %s && mount -o loop %s %s"
            .formatted(image, image, image, mounted);
    Path output = directory.resolve("output");
    Assumptions.assumeTrue(
        ChildJvm.run(List.of("unshare", "--mount", "sh", "-c", mount), output, 60) == 0,
        "no XFS can be mounted here: " + Files.readString(output));
    Files.delete(image);
    List<String> command =
        ChildJvm.command(
            ChildJvm.mounted(mount), SharedPagesScenario.class, scenario, mounted.toString());
    int code = ChildJvm.run(command, output, 240);
    String said = Files.readString(output);
    assertEquals(0, code, said);
    assertTrue(said.contains("done"), said);
  }
}
