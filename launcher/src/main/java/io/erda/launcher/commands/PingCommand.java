package io.erda.launcher.commands;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.OneLine;
import io.erda.console.UserError;
import io.erda.protocol.Promise;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
  @Mixin private ConnectionOptions connection;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "How long to wait for it, connecting included; 5 by default.")
  private int timeout;

  @Option(
      names = "--writable",
      description = "Fail too when the store takes no more puts and deletes.")
  private boolean writable;

  private volatile boolean connected;

  /**
   * The answer of a server.
   *
   * @param promise the promise of its store
   * @param connectNs how long connecting took
   * @param answerNs how long asking and answering took afterwards
   */
  private record Answer(Promise promise, ToldFigures told, long connectNs, long answerNs) {}

  @Override
  public Integer call() throws ExecutionException, InterruptedException {
    if (timeout < 1) {
      throw new UserError("--timeout must be at least 1: " + timeout, 2);
    }
    Answer answer = askInTime();
    ToldFigures told = answer.told();
    String readOnly = told.text("store.readonly.reason");
    spec.commandLine()
        .getOut()
        .println(
            OneLine.of(
                "answers: version %s, promise %s, up %s%s (connected in %s, answered in %s)"
                    .formatted(
                        told.text("server.version"),
                        answer.promise().name().toLowerCase(Locale.ROOT),
                        told.uptime(),
                        readOnly == null ? "" : ", read-only because " + readOnly,
                        Numbers.time(answer.connectNs()),
                        Numbers.time(answer.answerNs()))));
    return writable && readOnly != null ? 1 : 0;
  }

  /**
   * Asks within one time limit: a client has one time-out for connecting and another one for an
   * operation, and this bounds their sum.
   */
  private Answer askInTime() throws ExecutionException, InterruptedException {
    FutureTask<Answer> asking = new FutureTask<>(this::ask);
    Thread thread = new Thread(asking, "ping");
    thread.setDaemon(true);
    thread.start();
    try {
      return asking.get(timeout, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new UserError(
          "%s does not answer in %d s%s"
              .formatted(connection.uri(), timeout, connected ? ", though it let us connect" : ""));
    }
  }

  private Answer ask() {
    Duration longest = Duration.ofSeconds(timeout);
    ClientOptions options =
        ClientOptions.DEFAULT.withConnectTimeout(longest).withOperationTimeout(longest);
    long begunNs = System.nanoTime();
    try (ErdaClient client = connection.connect(options)) {
      connected = true;
      long connectedNs = System.nanoTime();
      ToldFigures told = new ToldFigures(client.stats());
      return new Answer(
          client.promise(), told, connectedNs - begunNs, System.nanoTime() - connectedNs);
    }
  }
}
