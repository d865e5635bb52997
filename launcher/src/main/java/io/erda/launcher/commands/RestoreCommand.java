package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.UserError;
import io.erda.launcher.backup.BackupReader;
import io.erda.launcher.backup.BackupWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code erda restore}: puts the keys of a backup into a store. */
@Command(
    name = "restore",
    description = {
      "Put all keys and values of a backup into a store, which has none.",
      "The whole backup is looked at first: of a damaged one nothing is stored."
    },
    footer = {
      "",
      "A restore that was interrupted is begun again with --over.",
      "",
      "  ./erda restore --uri erda+shm:/var/lib/erda /backups/monday",
      "  ./erda restore --check /backups/monday"
    })
public final class RestoreCommand implements Callable<Integer> {
  /** Number of keys between two updates of the progress. */
  private static final int KEYS_A_LOOK = 1 << 16;

  @Spec private CommandSpec spec;

  @Option(
      names = "--uri",
      paramLabel = "URI",
      defaultValue = "${env:ERDA_URI}",
      description = "The store, for example erda+shm:/var/lib/erda. What ERDA_URI says by default.")
  private String uri;

  @Option(
      names = "--over",
      description = "Store into a store that has keys; keys that the backup has not stay.")
  private boolean over;

  @Option(names = "--check", description = "Look at the backup and store nothing.")
  private boolean check;

  @Parameters(paramLabel = "DIR", description = "The directory of the backup.")
  private Path directory;

  // The content of the backup, as the check found it.
  private int longestKey;
  private int longestValue;

  @Override
  public Integer call() throws IOException {
    if (!check && uri == null) {
      throw new UserError("--uri or --check is missing", 2);
    }
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new UserError("a backup is a directory, and this is none: " + directory);
    }
    if (Files.notExists(directory.resolve(BackupWriter.FILE))) {
      throw new UserError("no backup is there: " + directory.resolve(BackupWriter.FILE));
    }
    TerminalProgress progress =
        new TerminalProgress(spec.commandLine().getErr(), StandardOutput.errorIsTerminal());
    long records = check(progress);
    if (!check) {
      try (ErdaClient client = ErdaClient.connect(uri)) {
        restore(client, records, progress);
      }
    }
    return 0;
  }

  /** Checks the whole backup. Returns how many keys it has. */
  private long check(TerminalProgress progress) throws IOException {
    progress.step("backup");
    try (BackupReader reader = open()) {
      while (reader.next()) {
        longestKey = Math.max(longestKey, reader.key().length);
        longestValue = Math.max(longestValue, reader.value().length);
        if (reader.records() % KEYS_A_LOOK == 0) {
          progress.at("%d%%".formatted(reader.position() * 100 / reader.length()));
        }
      }
      progress.done(
          "%,d keys of store %s, begun %s, are sound"
              .formatted(reader.records(), reader.store(), Instant.ofEpochMilli(reader.beganMs())));
      return reader.records();
    } catch (BackupReader.DamagedException e) {
      throw new UserError(e.getMessage(), 1, e);
    }
  }

  private BackupReader open() throws IOException {
    return BackupReader.open(directory);
  }

  private void restore(ErdaClient client, long records, TerminalProgress progress)
      throws IOException {
    if (longestKey > client.keyBytesMax() || longestValue > client.valueBytesMax()) {
      throw new UserError(
          "the backup has keys of up to %,d bytes and values of up to %,d, and the store takes %,d and %,d"
              .formatted(longestKey, longestValue, client.keyBytesMax(), client.valueBytesMax()));
    }
    if (!over) {
      Storing.requireEmpty(client);
    }
    progress.step("restore");
    Storing storing = new Storing(client, "key number");
    try (BackupReader reader = open()) {
      while (reader.next()) {
        storing.add(reader.records(), reader.key(), reader.value());
        if (reader.records() % KEYS_A_LOOK == 0) {
          progress.at("%,d of %,d keys".formatted(reader.records(), records));
        }
      }
    } catch (BackupReader.DamagedException e) {
      throw new UserError(e.getMessage() + ", since it was looked at", 1, e);
    }
    storing.flush();
    progress.done("%,d keys".formatted(storing.stored()));
  }
}
