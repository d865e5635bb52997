package io.erda.launcher.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
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
      "Exit code 1 when the key had no value.",
      "",
      "  ./erda delete --uri erda+shm:/var/lib/erda greeting"
    })
public final class DeleteCommand implements Callable<Integer> {
  @Mixin private Connection connection;

  @Parameters(paramLabel = "KEY", description = "The key, as UTF-8.")
  private String key;

  @Override
  public Integer call() {
    try (ErdaClient client = connection.connect()) {
      if (!client.delete(key.getBytes(UTF_8))) {
        throw new UserError("no such key: " + key);
      }
    }
    return 0;
  }
}
