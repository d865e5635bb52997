package io.erda.launcher;

import io.erda.console.StandardOutput;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda shell}: many commands in one process. */
@Command(
    name = "shell",
    description = {
      "Take commands, a line each, without starting a JVM for each of them.",
      "They are those of the command line, without ./erda and, where a store is named here, without"
          + " --uri; each value has a line. Those that measure and test Erda, server and classpath"
          + " are not among them, because they need JVMs of their own. 'help' shows them, 'exit' or"
          + " Ctrl-D ends the shell."
    },
    footer = {
      "",
      "Words are quoted with ', \" and \\ as in other shells. On a terminal there is a history,"
          + " which is kept in ${env:XDG_STATE_HOME:-~/.local/state}/erda/history, Tab completes,"
          + " and Ctrl-C ends a command that waits; twice, it ends the shell. Otherwise lines come"
          + " from standard input, which commands can't read then, those that begin with # mean"
          + " nothing, and the exit code is that of the first command that failed.",
      "",
      "  ./erda shell --uri erda+shm:/var/lib/erda",
      "  printf 'put a 1\\nput b 2\\n' | ./erda shell --uri erda+shm:/var/lib/erda"
    })
public final class ShellCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--uri",
      paramLabel = "URI",
      description = "The store that commands are for which name none.")
  private String uri;

  @Override
  public Integer call() throws IOException {
    CommandLine commandLine = spec.commandLine();
    Shell shell = new Shell(uri, commandLine.getOut(), commandLine.getErr());
    return StandardOutput.inputIsTerminal() ? Terminals.interact(shell) : shell.run(System.in);
  }
}
