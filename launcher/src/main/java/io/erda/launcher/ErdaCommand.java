package io.erda.launcher;

import io.erda.launcher.commands.ClasspathCommand;
import io.erda.launcher.commands.CleanCommand;
import io.erda.launcher.commands.DeleteCommand;
import io.erda.launcher.commands.EvalCommand;
import io.erda.launcher.commands.GetCommand;
import io.erda.launcher.commands.PutCommand;
import io.erda.launcher.commands.QuickstartCommand;
import io.erda.launcher.commands.ServerCommand;
import io.erda.launcher.commands.SimulateCommand;
import io.erda.launcher.commands.StatsCommand;
import io.erda.launcher.commands.TortureCommand;
import io.erda.launcher.commands.VerifyCommand;
import io.erda.launcher.commands.YcsbCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The top-level command; the subcommands are listed in the order in which help shows them. */
@Command(
    name = "erda",
    description = "A persistent key-value store whose readers never wake the server.",
    versionProvider = Build.class,
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    usageHelpAutoWidth = true,
    subcommands = {
      QuickstartCommand.class,
      ServerCommand.class,
      GetCommand.class,
      PutCommand.class,
      DeleteCommand.class,
      StatsCommand.class,
      CleanCommand.class,
      VerifyCommand.class,
      YcsbCommand.class,
      EvalCommand.class,
      TortureCommand.class,
      SimulateCommand.class,
      ClasspathCommand.class
    })
final class ErdaCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-v", "--verbose"},
      scope = ScopeType.INHERIT,
      description = "Show the stack trace of a failure (so does ERDA_TRACE=1).")
  @SuppressWarnings("unused") // read by ErrorReport, which must also work where parsing failed
  private boolean verbose;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }
}
