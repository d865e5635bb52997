package io.erda.launcher.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code erda get}: prints a value as it is. */
@Command(
    name = "get",
    description = "Print the value of a key, byte for byte; a line end follows on a terminal only.",
    footer = {
      "",
      "Exit code 1 when the key has no value.",
      "",
      "  ./erda get --uri erda+shm:/var/lib/erda greeting"
    })
public final class GetCommand implements Callable<Integer> {
  @Mixin private Connection connection;

  @Option(
      names = {"-n", "--newline"},
      description = "Let a line end follow in any case.")
  private boolean newline;

  @Parameters(paramLabel = "KEY", description = "The key, as UTF-8.")
  private String key;

  @Override
  public Integer call() throws IOException {
    byte[] value;
    try (ErdaClient client = connection.connect()) {
      value = client.get(key.getBytes(UTF_8));
    }
    if (value == null) {
      throw new UserError("no such key: " + key);
    }
    OutputStream out = System.out;
    out.write(value);
    if (newline || StandardOutput.isTerminal()) {
      out.write('\n');
    }
    out.flush();
    return 0;
  }
}
