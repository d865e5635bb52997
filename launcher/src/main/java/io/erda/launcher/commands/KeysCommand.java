package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code erda keys}: prints the keys of a store. */
@Command(
    name = "keys",
    description = {
      "Print the keys of a store, one a line, in no order that means anything.",
      "A key that is there all the while is printed once; one that comes or goes meanwhile once or"
          + " not at all."
    },
    footer = {
      "",
      "Keys are printed byte for byte. Where they may hold line ends, say --null, --hex or"
          + " --base64.",
      "A key whose object is damaged can't be printed; a line on standard error says where it lies,"
          + " and the exit code is 1.",
      "",
      "  ./erda keys --uri erda+shm:/var/lib/erda",
      "  ./erda keys --uri erda+shm:/var/lib/erda --null | xargs -0 -n 1 echo"
    })
public final class KeysCommand implements Callable<Integer> {
  @Mixin private ConnectionOptions connection;
  @Mixin private ByteForm form;

  @Option(
      names = {"-0", "--null"},
      description = "End each key with a zero byte instead of a line end.")
  private boolean zero;

  @Override
  public Integer call() throws IOException {
    try (OutputStream out = StandardOutput.results();
        ErdaClient client = connection.connectToReadAll()) {
      boolean whole = Reading.isWhole(client, connection.uri());
      int damaged =
          Reading.all(
              client,
              at -> {
                out.write(form.printed(at.key()));
                out.write(zero ? 0 : '\n');
              });
      return whole && damaged == 0 ? 0 : 1;
    } catch (StandardOutput.Lost e) {
      return 0;
    }
  }
}
