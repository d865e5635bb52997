package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.launcher.backup.JsonLines;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code erda export}: prints all keys and values as lines of JSON. */
@Command(
    name = "export",
    description = {
      "Print all keys and values of a store as lines of JSON, in no order that means anything.",
      "{\"key\":\"…\",\"value\":\"…\"}, with \"key64\" or \"value64\" in Base64 where the bytes"
          + " are no text in UTF-8."
    },
    footer = {
      "",
      "Others may write meanwhile: what holds for ./erda backup holds here. The latter is faster,"
          + " and proves what it has.",
      "",
      "  ./erda export --uri erda+shm:/var/lib/erda > store.jsonl",
      "  ./erda export --uri erda+shm:/var/lib/erda | jq -r .key"
    })
public final class ExportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private ConnectionOptions connection;

  @Override
  public Integer call() throws IOException {
    boolean terminal = StandardOutput.errorIsTerminal() && !StandardOutput.isTerminal();
    TerminalProgress progress = new TerminalProgress(spec.commandLine().getErr(), terminal);
    boolean whole;
    int damaged;
    try (OutputStream out = StandardOutput.results();
        ErdaClient client = connection.connectToReadAll()) {
      whole = Reading.isWhole(client, connection.uri());
      progress.step("export");
      damaged =
          Reading.all(client, progress, at -> out.write(JsonLines.line(at.key(), at.value())));
    } catch (StandardOutput.Lost e) {
      return 0;
    }
    if (terminal) {
      progress.done("all printed");
    }
    return whole && damaged == 0 ? 0 : 1;
  }
}
