package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code erda delete}: removes a key. */
@Command(
    name = "delete",
    description = "Remove a key and its value.",
    footer = {
      "",
      "Exit code 3 when the key had no value.",
      "",
      "  ./erda delete --uri erda+shm:/var/lib/erda greeting"
    })
public final class DeleteCommand implements Callable<Integer> {
  @Mixin private Connection connection;
  @Mixin private ByteForm form;
  @Mixin private KeyFile keyFile;

  @Parameters(paramLabel = "KEY", arity = "0..1", description = "The key, byte for byte.")
  private String argument;

  @Override
  public Integer call() throws IOException {
    byte[] key = keyFile.key(argument, form);
    try (ErdaClient client = connection.connect()) {
      if (!client.delete(key)) {
        throw Absent.key(key);
      }
    }
    return 0;
  }
}
