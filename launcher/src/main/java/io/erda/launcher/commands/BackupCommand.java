package io.erda.launcher.commands;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.UserError;
import io.erda.launcher.backup.BackupWriter;
import io.erda.pmem.libc.Niceness;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code erda backup}: copies all keys and values of a store that is in use. */
@Command(
    name = "backup",
    description = {
      "Copy all keys and values of a store into a directory, while others write.",
      "Each key's value is one that it had while the backup was made, so none is older than its"
          + " beginning; two keys' values may be of different moments."
    },
    footer = {
      "",
      "The server's thread does nothing for it, and whoever uses the store keeps most of each"
          + " processor (--share).",
      "With ?read-only behind the URI it needs no server," + " and the right to read alone.",
      "The backup has its name, erda.backup, when all of it is on the disk. A key whose object is"
          + " damaged is told and left out;",
      "then the exit code is 1, and where the store's device failed, so that keys may be missing.",
      "",
      "  ./erda backup --uri erda+shm:/var/lib/erda /backups/monday",
      "  ./erda restore --uri erda+shm:/var/lib/other /backups/monday"
    })
public final class BackupCommand implements Callable<Integer> {
  /** A thread of the lowest priority gets some hundredths of a busy processor. */
  private static final Duration ASIDE_OPERATION_TIMEOUT = Duration.ofMinutes(2);

  @Spec private CommandSpec spec;
  @Mixin private ConnectionOptions connection;

  @Option(
      names = "--share",
      paramLabel = "PERCENT",
      defaultValue = "10",
      description = {
        "How much of a processor's time it takes at most, ${DEFAULT-VALUE} by default. It steps"
            + " back behind other processes besides.",
        "100: as fast as it can, as any other process."
      })
  private int share;

  @Parameters(
      paramLabel = "DIR",
      description = "The directory; it is made if it is not there. It has no other backup.")
  private Path directory;

  @Override
  public Integer call() throws Exception {
    if (share < 1 || share > Pauses.PERCENT_MAX) {
      throw new UserError("--share is 1 to " + Pauses.PERCENT_MAX + ", not " + share, 2);
    }
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new UserError("a backup is a directory, and this is none: " + directory);
    }
    if (isInAStore()) {
      throw new UserError(
          "the directory is a store's own, and a backup that lies in it is lost with it: "
              + directory);
    }
    if (Files.exists(directory.resolve(BackupWriter.FILE), LinkOption.NOFOLLOW_LINKS)) {
      throw alreadyThere();
    }
    // Who steps back waits for the processor, and its time-outs go on; connecting is short.
    boolean aside = share < Pauses.PERCENT_MAX;
    ClientOptions options =
        aside
            ? ClientOptions.DEFAULT.withOperationTimeout(ASIDE_OPERATION_TIMEOUT)
            : ClientOptions.DEFAULT;
    try (ErdaClient client = connection.connectToReadAll(options)) {
      return aside ? Niceness.callAside(() -> backUp(client)) : backUp(client);
    }
  }

  private UserError alreadyThere() {
    return new UserError("a backup is there already: " + directory.resolve(BackupWriter.FILE));
  }

  private void finish(BackupWriter writer) throws IOException {
    try {
      writer.finish();
    } catch (FileAlreadyExistsException e) {
      // Another backup into this directory has ended meanwhile.
      throw alreadyThere();
    }
  }

  private boolean isInAStore() throws IOException {
    Path at = directory.toAbsolutePath();
    while (Files.notExists(at)) {
      at = at.getParent();
    }
    at = at.toRealPath();
    // A directory that this user may not search is taken for no store; its use fails later.
    while (at != null && !Files.exists(at.resolve(StoreFiles.SUPERBLOCK))) {
      at = at.getParent();
    }
    return at != null;
  }

  private int backUp(ErdaClient client) throws IOException {
    TerminalProgress progress =
        new TerminalProgress(spec.commandLine().getErr(), StandardOutput.errorIsTerminal());
    if (Files.notExists(directory)) {
      Files.createDirectories(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    boolean whole = Reading.isWhole(client, connection.uri());
    progress.step("backup");
    Pauses pauses = new Pauses(share);
    long records;
    long bytes;
    int damaged;
    try (BackupWriter writer =
        BackupWriter.begin(
            directory,
            client.storeId(),
            System.currentTimeMillis(),
            client.keyBytesMax(),
            client.valueBytesMax())) {
      damaged =
          Reading.all(
              client,
              progress,
              at -> {
                writer.add(at.key(), at.value());
                pauses.between();
              });
      finish(writer);
      records = writer.records();
      bytes = writer.bytes();
      if (writer.left() != null) {
        spec.commandLine().getErr().println("erda: " + writer.left());
      }
    }
    progress.done("%,d keys, %,d bytes".formatted(records, bytes));
    if (damaged > 0) {
      throw new UserError(damaged + " damaged keys are not in the backup; the others are");
    }
    return whole ? 0 : 1;
  }
}
