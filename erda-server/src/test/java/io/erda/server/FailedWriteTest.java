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
 * A device that does not take what the kernel writes to it. A store that promises to survive a kill
 * of its process leaves its bytes to the kernel, which writes mapped pages long after the puts were
 * acknowledged, and then drops them: the server said nothing, and recorded a clean stop.
 *
 * <p>The device is a file with holes in a file system of memory that has no room to fill them, in a
 * mount namespace of the child. Where this user may not mount it, the test is skipped.
 */
@Tag("long")
class FailedWriteTest {
  @TempDir Path directory;

  @Test
  void aServerSaysWhatItsDeviceDidNotTake() throws Exception {
    run("served");
  }

  @Test
  void aServerThatIsEndedAtOnceSaysIt() throws Exception {
    run("ended");
  }

  /** The first server after such a failure became read-only for each file in turn. */
  @Test
  void whatWasNotTakenBeforeTheStartIsToldOnce() throws Exception {
    run("before");
  }

  /** Then the kernel writes no page any more, and there is no error of a write. */
  @Test
  void aServerSaysThatItsFileSystemTurnedReadOnly() throws Exception {
    run("read-only");
  }

  private void run(String scenario) throws Exception {
    Path host = Files.createDirectory(directory.resolve("host"));
    Path mounted = Files.createDirectory(directory.resolve("mounted"));
    // Without a journal no other error tells of it.
    String mount =
        "PATH=$PATH:/usr/sbin:/sbin; mount -t tmpfs -o size=24M tmpfs %1$s && truncate -s 200M %1$s/image && mkfs.ext4 -q -F -O ^has_journal %1$s/image && mount -o loop,errors=remount-ro %1$s/image %2$s"
            .formatted(host, mounted);
    Path output = directory.resolve("output");
    Assumptions.assumeTrue(
        ChildJvm.run(List.of("unshare", "--mount", "sh", "-c", mount), output, 60) == 0,
        "no ext4 can be mounted here: " + Files.readString(output));
    List<String> command =
        ChildJvm.command(
            ChildJvm.mounted(mount),
            FailedWriteScenario.class,
            scenario,
            mounted.toString(),
            host.toString());
    int code = ChildJvm.run(command, output, 240);
    String said = Files.readString(output);
    assertEquals(0, code, said);
    assertTrue(said.contains("done"), said);
  }
}
