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

  /**
   * A server that was started after the device had failed once took the pages in memory for stored,
   * and recorded a clean stop over them.
   */
  @Test
  void whatWasNotTakenBeforeTheStartIsWrittenAgain() throws Exception {
    run("before");
  }

  /**
   * The fsync of a start that fails uses the kernel's error up. The start after that heard of no
   * error, and took pages for durable that only memory had.
   */
  @Test
  void whatAStartCouldNotMakeDurableIsWrittenAgain() throws Exception {
    run("promised");
  }

  /** Then the kernel writes no page any more, and there is no error of a write. */
  @Test
  void aServerSaysThatItsFileSystemTurnedReadOnly() throws Exception {
    run("read-only");
  }

  private void run(String scenario) throws Exception {
    Path host = Files.createDirectory(directory.resolve("host"));
    Path mounted = Files.createDirectory(directory.resolve("mounted"));
    // The device has what the file system needs for itself. Otherwise the file system would fail.
    String mount =
        """
        PATH=$PATH:/usr/sbin:/sbin
        mount -t tmpfs -o size=150M tmpfs %1$s && truncate -s 100M %3$s && \
        mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 %3$s && \
        cat %3$s > %1$s/image && rm %3$s && mount -o loop,errors=remount-ro %1$s/image %2$s && \
        fstrim %2$s
        """
            .strip()
            .formatted(host, mounted, directory.resolve("empty"));
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
