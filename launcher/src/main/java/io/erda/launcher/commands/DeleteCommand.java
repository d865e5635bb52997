package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code erda delete}: removes keys. */
@Command(
    name = "delete",
    description = "Remove keys and their values.",
    footer = {
      "",
      "Exit code 3 when a key had no value; the others are removed all the same.",
      "",
      "  ./erda delete --uri erda+shm:/var/lib/erda greeting"
    })
public final class DeleteCommand implements Callable<Integer> {
  @Mixin private ConnectionOptions connection;
  @Mixin private KeyArguments arguments;

  @Override
  public Integer call() throws IOException {
    List<byte[]> keys = arguments.keys();
    List<byte[]> absent = new ArrayList<>();
    try (ErdaClient client = connection.connect()) {
      boolean[] existed = client.deleteAll(keys);
      for (int i = 0; i < existed.length; i++) {
        if (!existed[i]) {
          absent.add(keys.get(i));
        }
      }
    }
    Absent.requireNone(absent);
    return 0;
  }
}
