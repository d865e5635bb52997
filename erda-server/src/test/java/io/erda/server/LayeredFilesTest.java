package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that came with the image of a container lies in a lower layer of its overlayfs: the first
 * process that opens a file of it for writing gets a copy, and a client that read the files before
 * must notice. The file system is mounted in a mount namespace of the child; where this user may
 * not do that, the test is skipped.
 */
class LayeredFilesTest {
  @TempDir Path directory;

  @Test
  void whoReadTheFilesBeforeAServerBeganSeesWhatItStores() throws Exception {
    Path lower = Files.createDirectory(directory.resolve("lower"));
    Path upper = Files.createDirectory(directory.resolve("upper"));
    Path work = Files.createDirectory(directory.resolve("work"));
    Path mounted = Files.createDirectory(directory.resolve("mounted"));
    try (ErdaStore store = ErdaStore.open(lower.resolve("store"));
        ErdaClient client = store.client()) {
      client.put("key".getBytes(UTF_8), "below".getBytes(UTF_8));
    }
    String mount =
        "mount -t overlay -o lowerdir=%s,upperdir=%s,workdir=%s overlay %s"
            .formatted(lower, upper, work, mounted);
    Path output = directory.resolve("output");
    Assumptions.assumeTrue(
        ChildJvm.run(List.of("unshare", "--mount", "sh", "-c", mount), output, 60) == 0,
        "no overlayfs can be mounted here: " + Files.readString(output));
    List<String> command =
        ChildJvm.command(
            ChildJvm.mounted(mount),
            LayeredFilesScenario.class,
            mounted.resolve("store").toString());
    int code = ChildJvm.run(command, output, 60);
    String said = Files.readString(output);
    assertEquals(0, code, said);
    assertTrue(said.contains("done"), said);
  }
}
