package io.erda.launcher;

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Completion for the fish shell, for which picocli makes no script: a line for each word. */
final class FishCompletion {
  private final String name;
  private final PrintWriter out;

  FishCompletion(String name, PrintWriter out) {
    this.name = name;
    this.out = out;
  }

  void print(CommandSpec command) {
    print(command, List.of());
  }

  /**
   * @param path the words that lead to the command, without the first
   */
  private void print(CommandSpec command, List<String> path) {
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        printOption(option, condition(path, List.of()));
      }
    }
    for (PositionalParamSpec parameter : command.positionalParameters()) {
      if (parameter.completionCandidates() != null) {
        List<String> words = new ArrayList<>();
        parameter.completionCandidates().forEach(words::add);
        out.println(
            "complete -c "
                + name
                + " -f"
                + condition(path, words)
                + " -a '"
                + String.join(" ", words)
                + "'"
                + description(parameter.description()));
      }
    }
    List<String> names = List.copyOf(command.subcommands().keySet());
    for (CommandLine each : command.subcommands().values()) {
      CommandSpec subcommand = each.getCommandSpec();
      out.println(
          "complete -c "
              + name
              + " -f"
              + condition(path, names)
              + " -a "
              + subcommand.name()
              + description(subcommand.usageMessage().description()));
      List<String> further = new ArrayList<>(path);
      further.add(subcommand.name());
      print(subcommand, further);
    }
  }

  private void printOption(OptionSpec option, String condition) {
    StringBuilder line = new StringBuilder("complete -c " + name + condition);
    for (String each : option.names()) {
      boolean isLong = each.startsWith("--");
      line.append(isLong ? " -l " : " -s ").append(each.substring(isLong ? 2 : 1));
    }
    if (option.arity().max() > 0) {
      boolean isFile = option.type() == Path.class || option.type() == File.class;
      line.append(isFile ? " -r -F" : " -x");
      if (option.completionCandidates() != null) {
        line.append(" -a '").append(String.join(" ", option.completionCandidates())).append('\'');
      }
    }
    out.println(line + description(option.description()));
  }

  /**
   * The condition for offering a word: after all words of a path, and before any word that would
   * lead further.
   */
  private static String condition(List<String> path, List<String> before) {
    List<String> conditions = new ArrayList<>();
    path.forEach(word -> conditions.add("__fish_seen_subcommand_from " + word));
    if (!before.isEmpty()) {
      conditions.add("not __fish_seen_subcommand_from " + String.join(" ", before));
    }
    return conditions.isEmpty() ? "" : " -n '" + String.join("; and ", conditions) + "'";
  }

  private static String description(String... lines) {
    return lines.length == 0
        ? ""
        : " -d '" + lines[0].replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
