package io.erda.launcher;

import io.erda.launcher.commands.UserError;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code erda completion}: prints what makes a shell complete commands and options. */
@Command(
    name = "completion",
    description = "Print a script that makes a shell complete commands and options.",
    footer = {
      "",
      "  source <(./erda completion bash)",
      "  source <(./erda completion zsh)",
      "  ./erda completion fish | source"
    })
public final class CompletionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
  private String shell;

  @Override
  public Integer call() {
    CommandLine all = ErdaCommand.commandLine();
    String name = all.getCommandName();
    PrintWriter out = spec.commandLine().getOut();
    switch (shell) {
      case "bash" -> out.print(AutoComplete.bash(name, all));
      case "zsh" -> new ZshCompletion(name, out).print(all.getCommandSpec());
      case "fish" -> new FishCompletion(name, out).print(all.getCommandSpec());
      default -> throw new UserError("no completion for '" + shell + "': bash, zsh or fish", 2);
    }
    return 0;
  }
}
