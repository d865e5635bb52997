package io.erda.launcher.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code erda put}: stores a value. */
@Command(
    name = "put",
    description = "Store a value. When it returns, the value has the promise of the store.",
    footer = {
      "",
      "  ./erda put --uri erda+shm:/var/lib/erda greeting hello",
      "  ./erda put --uri erda+shm:/var/lib/erda picture - < picture.png"
    })
public final class PutCommand implements Callable<Integer> {
  @Mixin private Connection connection;

  @Parameters(index = "0", paramLabel = "KEY", description = "The key, as UTF-8.")
  private String key;

  @Parameters(
      index = "1",
      paramLabel = "VALUE",
      description = "The value, as UTF-8; - for the bytes of standard input.")
  private String value;

  @Override
  public Integer call() throws IOException {
    byte[] bytes = value.equals("-") ? System.in.readAllBytes() : value.getBytes(UTF_8);
    try (ErdaClient client = connection.connect()) {
      client.put(key.getBytes(UTF_8), bytes);
    }
    return 0;
  }
}
