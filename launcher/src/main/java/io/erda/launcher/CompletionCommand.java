package io.erda.launcher;

import io.erda.console.UserError;
import io.erda.launcher.commands.ProgramName;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code erda completion}: prints a script that makes a shell complete commands and options. */
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

  /** The shells for which there are scripts. */
  static final class Shells extends ArrayList<String> {
    private static final long serialVersionUID = 1;

    Shells() {
      super(List.of("bash", "zsh", "fish"));
    }
  }

  @Parameters(
      paramLabel = "SHELL",
      description = "bash, zsh or fish.",
      completionCandidates = Shells.class)
  private String shell;

  @Override
  public Integer call() {
    CommandLine all = ErdaCommand.commandLine();
    String name = all.getCommandName();
    StringWriter script = new StringWriter();
    PrintWriter out = new PrintWriter(script, true);
    switch (shell) {
      case "bash" -> out.print(AutoComplete.bash(name, all));
      case "zsh" -> new ZshCompletion(name, out).print(all.getCommandSpec());
      case "fish" -> new FishCompletion(name, out).print(all.getCommandSpec());
      default -> throw new UserError("no completion for '" + shell + "': bash, zsh or fish", 2);
    }
    out.flush();
    spec.commandLine().getOut().print(ProgramName.in(script.toString()));
    return 0;
  }
}
