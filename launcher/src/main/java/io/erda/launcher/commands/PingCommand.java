package io.erda.launcher.commands;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.eval.report.Table;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda ping}: whether a server answers. */
@Command(
    name = "ping",
    description =
        "Ask a server whether it is there, and say how long it took. Exit code 0: it answered; 1:"
            + " it did not.",
    footer = {"", "  ./erda ping --uri erda+shm:/var/lib/erda"})
public final class PingCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private Connection connection;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "How long to wait for it; 5 by default.")
  private int timeout;

  @Option(
      names = "--writable",
      description = "Fail too when the store takes no more puts and deletes.")
  private boolean writable;

  @Override
  public Integer call() {
    if (timeout < 1) {
      throw new UserError("--timeout must be at least 1: " + timeout, 2);
    }
    Duration longest = Duration.ofSeconds(timeout);
    ClientOptions options =
        ClientOptions.DEFAULT.withConnectTimeout(longest).withOperationTimeout(longest);
    long begunNs = System.nanoTime();
    try (ErdaClient client = connection.connect(options)) {
      long connectedNs = System.nanoTime();
      ToldFigures told = new ToldFigures(client.stats());
      long answeredNs = System.nanoTime();
      String readOnly = told.text("store.readonly.reason");
      spec.commandLine()
          .getOut()
          .println(
              "answers: version %s, promise %s, up %s%s (connected in %s, answered in %s)"
                  .formatted(
                      told.text("server.version"),
                      client.promise().name().toLowerCase(Locale.ROOT),
                      told.uptime(),
                      readOnly == null ? "" : ", read-only because " + readOnly,
                      Table.time(connectedNs - begunNs),
                      Table.time(answeredNs - connectedNs)));
      return writable && readOnly != null ? 1 : 0;
    }
  }
}
