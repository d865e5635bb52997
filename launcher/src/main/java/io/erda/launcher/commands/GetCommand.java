package io.erda.launcher.commands;

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
      "Exit code 3 when the key has no value.",
      "",
      "  ./erda get --uri erda+shm:/var/lib/erda greeting",
      "  ./erda get --uri erda+shm:/var/lib/erda --hex 00ff"
    })
public final class GetCommand implements Callable<Integer> {
  @Mixin private Connection connection;
  @Mixin private ByteForm form;
  @Mixin private KeyFile keyFile;

  @Option(
      names = {"-n", "--newline"},
      description = "Let a line end follow in any case.")
  private boolean newline;

  @Parameters(paramLabel = "KEY", arity = "0..1", description = "The key, byte for byte.")
  private String argument;

  @Override
  public Integer call() throws IOException {
    byte[] key = keyFile.key(argument, form);
    byte[] value;
    try (ErdaClient client = connection.connect()) {
      value = client.get(key);
    }
    if (value == null) {
      throw Absent.key(key);
    }
    OutputStream out = System.out;
    out.write(form.printed(value));
    if (newline || form.isText() || StandardOutput.isTerminal()) {
      out.write('\n');
    }
    out.flush();
    return 0;
  }
}
