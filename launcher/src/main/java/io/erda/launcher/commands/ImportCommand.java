package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.UserError;
import io.erda.launcher.backup.JsonLines;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code erda import}: stores the keys and values of lines of JSON. */
@Command(
    name = "import",
    description = {
      "Store keys and values from lines of JSON, as ./erda export prints them.",
      "What the store has under the same keys is stored over."
    },
    footer = {
      "",
      "A line that is none, or has a key or value that the store does not take, ends it with exit"
          + " code 1",
      "and the line's number; what stood before is stored, and perhaps some of what stood behind."
          + " Empty lines",
      "say nothing. What the server refuses for a quota is tried again, until nothing gets through"
          + " for 10 s.",
      "",
      "  ./erda import --uri erda+shm:/var/lib/erda store.jsonl",
      "  echo '{\"key\":\"greeting\",\"value\":\"hello\"}' | ./erda import --uri"
          + " erda+shm:/var/lib/erda"
    })
public final class ImportCommand implements Callable<Integer> {
  private static final int BUFFER_BYTES = 1 << 16;

  /** Number of lines between two updates of the progress. */
  private static final int LINES_A_LOOK = 1 << 14;

  @Spec private CommandSpec spec;
  @Mixin private ConnectionOptions connection;

  @Parameters(
      arity = "0..1",
      paramLabel = "FILE",
      description = "The file; standard input where none is named, or -.")
  private Path file;

  /** The line that was read last. */
  private byte[] line = new byte[1 << 12];

  private int lineBytesMax;

  @Override
  public Integer call() throws IOException {
    TerminalProgress progress =
        new TerminalProgress(spec.commandLine().getErr(), StandardOutput.errorIsTerminal());
    try (ErdaClient client = connection.connect();
        InputStream in =
            new BufferedInputStream(
                isStandardInput() ? System.in : Files.newInputStream(file), BUFFER_BYTES)) {
      // Each byte may be written as six, \u0000; a longer line is invalid.
      lineBytesMax =
          (int)
              Math.min(
                  Integer.MAX_VALUE - 64L,
                  6L * ((long) client.keyBytesMax() + client.valueBytesMax()) + 4096);
      progress.step("import");
      long stored = store(client, in, progress);
      progress.done("%,d keys".formatted(stored));
    }
    return 0;
  }

  private boolean isStandardInput() {
    return file == null || file.toString().equals("-");
  }

  /** What a message calls a line, before its number: with the name of its file. */
  private String lineOf() {
    return isStandardInput() ? "line" : file + ", line";
  }

  private long store(ErdaClient client, InputStream in, TerminalProgress progress) {
    Storing storing = new Storing(client, lineOf());
    long number = 0;
    try {
      while (true) {
        number++;
        int length = readLine(in);
        if (length < 0) {
          break;
        }
        if (isBlank(length)) {
          continue;
        }
        JsonLines.Entry entry = JsonLines.entry(line, length);
        storing.add(number, entry.key(), entry.value());
        if (number % LINES_A_LOOK == 0) {
          progress.at("%,d lines".formatted(number));
        }
      }
    } catch (JsonLines.MalformedException e) {
      storing.flush();
      throw new UserError(
          "%s %d: %s%s"
              .formatted(lineOf(), number, e.getMessage(), Storing.storedBefore(storing.stored())),
          1,
          e);
    } catch (OutOfMemoryError e) {
      line = new byte[0];
      storing.flush();
      throw new OutOfMemoryError(
          "%s %d: %s%s"
              .formatted(lineOf(), number, e.getMessage(), Storing.storedBefore(storing.stored())));
    } catch (IOException e) {
      storing.flush();
      throw new UserError(
          "can't read "
              + (isStandardInput() ? "standard input" : file)
              + " from line "
              + number
              + " on: "
              + e.getMessage()
              + Storing.storedBefore(storing.stored()),
          1,
          e);
    }
    storing.flush();
    return storing.stored();
  }

  private boolean isBlank(int length) {
    for (int i = 0; i < length; i++) {
      if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
        return false;
      }
    }
    return true;
  }

  /** Returns the length of the next line, or -1 at the end. */
  private int readLine(InputStream in) throws IOException, JsonLines.MalformedException {
    int length = 0;
    int next = in.read();
    if (next < 0) {
      return -1;
    }
    for (; next >= 0 && next != '\n'; next = in.read()) {
      if (length == line.length) {
        line = Arrays.copyOf(line, (int) Math.min(2L * length, lineBytesMax));
      }
      if (length == lineBytesMax) {
        throw new JsonLines.MalformedException("it is longer than a key and a value of this store");
      }
      line[length++] = (byte) next;
    }
    return length;
  }
}
