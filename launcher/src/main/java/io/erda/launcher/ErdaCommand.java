package io.erda.launcher;

import io.erda.console.CommandProvider;
import io.erda.launcher.commands.BackupCommand;
import io.erda.launcher.commands.ClasspathCommand;
import io.erda.launcher.commands.CleanCommand;
import io.erda.launcher.commands.DeleteCommand;
import io.erda.launcher.commands.DoctorCommand;
import io.erda.launcher.commands.ExistsCommand;
import io.erda.launcher.commands.ExportCommand;
import io.erda.launcher.commands.GetCommand;
import io.erda.launcher.commands.ImportCommand;
import io.erda.launcher.commands.KeysCommand;
import io.erda.launcher.commands.PingCommand;
import io.erda.launcher.commands.ProgramName;
import io.erda.launcher.commands.PutCommand;
import io.erda.launcher.commands.RestoreCommand;
import io.erda.launcher.commands.ServerCommand;
import io.erda.launcher.commands.StatsCommand;
import io.erda.launcher.commands.TopCommand;
import io.erda.launcher.commands.VerifyCommand;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The top-level command. */
@Command(
    name = "erda",
    description = "A persistent key-value store whose readers never wake the server.",
    versionProvider = Build.class,
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    usageHelpAutoWidth = true)
final class ErdaCommand implements Runnable {
  /** The launcher's own commands about stores, in the order of the help. */
  private static final List<Class<?>> OF_STORES =
      List.of(
          DoctorCommand.class,
          ServerCommand.class,
          GetCommand.class,
          PutCommand.class,
          DeleteCommand.class,
          ExistsCommand.class,
          KeysCommand.class,
          PingCommand.class,
          StatsCommand.class,
          TopCommand.class,
          CleanCommand.class,
          VerifyCommand.class,
          BackupCommand.class,
          RestoreCommand.class,
          ExportCommand.class,
          ImportCommand.class);

  /** The launcher's own commands about the command line. */
  private static final List<Class<?>> OF_THE_COMMAND_LINE =
      List.of(
          ClasspathCommand.class, ShellCommand.class, CompletionCommand.class, HelpCommand.class);

  /** The command of the laboratory that a newcomer runs first. */
  private static final String FIRST = "quickstart";

  private static final String SUFFIX = "Command";

  @Spec private CommandSpec spec;

  @Option(
      names = {"-v", "--verbose"},
      scope = ScopeType.INHERIT,
      description = "Show the stack trace of a failure (so does ERDA_TRACE=1).")
  @SuppressWarnings("unused") // read by ErrorReport, even after parsing failed
  private boolean verbose;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }

  /**
   * Returns the command line that parses {@code args}. When they begin with the name of a command
   * it has only that command, because reading the annotations of all commands takes longer than
   * most commands run. Only {@code help} needs the others.
   */
  static CommandLine commandLine(String... args) {
    CommandLine commandLine = new CommandLine(new ErdaCommand());
    for (Class<?> each : named(args)) {
      try {
        commandLine.addSubcommand(each);
      } catch (LinkageError e) {
        leftOut(e);
      }
    }
    ProgramName.inHelpOf(commandLine);
    return commandLine;
  }

  /** All commands, in the order in which help shows them. */
  static List<Class<?>> all() {
    List<Class<?>> others = provided();
    List<Class<?>> first = others.stream().filter(type -> name(type).equals(FIRST)).toList();
    return Stream.of(first, OF_STORES, others, OF_THE_COMMAND_LINE)
        .flatMap(List::stream)
        .distinct()
        .toList();
  }

  /** Whether a command is provided by another module. */
  static boolean isProvided(String command) {
    return Stream.of(OF_STORES, OF_THE_COMMAND_LINE)
            .flatMap(List::stream)
            .noneMatch(type -> name(type).equals(command))
        && provided().stream().anyMatch(type -> name(type).equals(command));
  }

  /**
   * The commands for measuring and testing, if they are on the class path. A provider that is
   * incomplete, or of another version, is left out: the product's commands work without it.
   */
  private static List<Class<?>> provided() {
    List<Class<?>> commands = new ArrayList<>();
    Iterator<CommandProvider> providers = ServiceLoader.load(CommandProvider.class).iterator();
    while (true) {
      try {
        if (!providers.hasNext()) {
          return commands;
        }
        commands.addAll(providers.next().commands());
      } catch (ServiceConfigurationError | LinkageError e) {
        leftOut(e);
      }
    }
  }

  /** Whether there are commands for measuring and testing. */
  static boolean hasLaboratory() {
    return !provided().isEmpty();
  }

  private static void leftOut(Error reason) {
    System.err.println(
        "erda: a command that measures or tests can't be loaded, and is left out (the jars in"
            + " lib/laboratory are incomplete or of another version): "
            + reason);
  }

  /** The command that the arguments begin with, or all of them. */
  private static List<Class<?>> named(String... args) {
    if (args.length == 0 || args[0].equals("help")) {
      return all();
    }
    return Stream.<Supplier<List<Class<?>>>>of(
            () -> OF_STORES, () -> OF_THE_COMMAND_LINE, ErdaCommand::provided)
        .flatMap(group -> group.get().stream())
        .filter(type -> name(type).equals(args[0]))
        .findFirst()
        .<List<Class<?>>>map(List::of)
        .orElseGet(ErdaCommand::all);
  }

  /**
   * The name of a subcommand, made from that of its class, so that its annotation need not be read.
   */
  private static String name(Class<?> type) {
    String simple = type.getSimpleName();
    return simple.substring(0, simple.length() - SUFFIX.length()).toLowerCase(Locale.ROOT);
  }
}
