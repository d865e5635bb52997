package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code erda get}: prints values as they are. */
@Command(
    name = "get",
    description = {
      "Print the value of a key, byte for byte; a line end follows on a terminal only.",
      "Of several keys each value is followed by a line end, in the order of the keys."
    },
    footer = {
      "",
      "Exit code 3 when a key has no value; the others' are printed all the same.",
      "",
      "  ./erda get --uri erda+shm:/var/lib/erda greeting",
      "  ./erda get --uri erda+shm:/var/lib/erda --hex 00ff"
    })
public final class GetCommand implements Callable<Integer> {
  @Mixin private ConnectionOptions connection;
  @Mixin private KeyArguments arguments;

  @Option(
      names = {"-n", "--newline"},
      description = "Let a line end follow in any case.")
  private boolean newline;

  @Option(
      names = {"-0", "--null"},
      description = "End each value with a zero byte instead of a line end.")
  private boolean zero;

  /** The command {@code get --uri URI KEY…}. */
  static GetCommand of(String uri, List<String> keys) {
    GetCommand command = new GetCommand();
    command.connection = ConnectionOptions.of(uri);
    command.arguments = KeyArguments.of(keys);
    return command;
  }

  @Override
  public Integer call() throws IOException {
    List<byte[]> keys = arguments.keys();
    List<byte[]> values;
    try (ErdaClient client = connection.connect()) {
      // The error of one get is told as it is, and not as that of one of several.
      values =
          keys.size() == 1
              ? Collections.singletonList(client.get(keys.getFirst()))
              : client.getAll(keys);
    }
    boolean ends =
        zero
            || newline
            || keys.size() > 1
            || arguments.form().isText()
            || StandardOutput.isTerminal();
    List<byte[]> absent = new ArrayList<>();
    OutputStream out = System.out;
    for (int i = 0; i < keys.size(); i++) {
      if (values.get(i) == null) {
        absent.add(keys.get(i));
        continue;
      }
      out.write(arguments.form().printed(values.get(i)));
      if (ends) {
        out.write(zero ? 0 : '\n');
      }
    }
    out.flush();
    Absent.requireNone(absent);
    return 0;
  }
}
