package io.erda.launcher;

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Completion for zsh with descriptions of the words: a function for each command. The script can be
 * read by {@code source}, or lie in a directory of {@code fpath} as {@code _erda}.
 */
final class ZshCompletion {
  private final String name;
  private final PrintWriter out;

  ZshCompletion(String name, PrintWriter out) {
    this.name = name;
    this.out = out;
  }

  void print(CommandSpec command) {
    String function = "_" + name;
    out.println("#compdef " + name);
    print(command, function);
    out.println();
    // zsh calls a file of fpath as the function itself, the first time; a script that was read by
    // source has to register its function.
    out.println("if [ \"${funcstack[1]}\" = " + function + " ]; then");
    out.println("  " + function + " \"$@\"");
    out.println("else");
    out.println("  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }");
    out.println("  compdef " + function + " " + name);
    out.println("fi");
  }

  private void print(CommandSpec command, String function) {
    out.println();
    out.println(function + "() {");
    if (command.subcommands().isEmpty()) {
      arguments(command, "-s -S");
      command.positionalParameters().forEach(each -> out.print(" \\\n    " + positional(each)));
      out.println();
      out.println("}");
      return;
    }
    out.println("  local curcontext=$curcontext state line");
    out.println("  local -a commands=(");
    for (CommandLine each : command.subcommands().values()) {
      CommandSpec subcommand = each.getCommandSpec();
      String what = first(subcommand.usageMessage().description());
      out.println("    " + quoted(subcommand.name() + ":" + escaped(what, ":")));
    }
    out.println("  )");
    arguments(command, "-C -s -S");
    out.println(" \\\n    '1: :->command' '*:: :->further' && return");
    out.println("  case $state in");
    out.println("    command) _describe command commands ;;");
    out.println("    further)");
    out.println("      case $words[1] in");
    for (String each : command.subcommands().keySet()) {
      out.println("        " + each + ") " + function + "_" + each + " ;;");
    }
    out.println("      esac");
    out.println("      ;;");
    out.println("  esac");
    out.println("}");
    command
        .subcommands()
        .forEach((each, line) -> print(line.getCommandSpec(), function + "_" + each));
  }

  private void arguments(CommandSpec command, String how) {
    out.print("  _arguments " + how);
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        option(option);
      }
    }
  }

  private void option(OptionSpec option) {
    boolean takesOne = option.arity().max() > 0;
    // An option is offered once, unless it may be repeated.
    String but = option.isMultiValue() ? "*" : "(" + String.join(" ", option.names()) + ")";
    String what = "[" + escaped(first(option.description()), "[]:") + "]";
    String value = takesOne ? ":" + escaped(option.paramLabel(), ":") + ":" + values(option) : "";
    for (String each : option.names()) {
      String end = takesOne ? each.startsWith("--") ? "=" : "+" : "";
      out.print(" \\\n    " + quoted(but + each + end + what + value));
    }
  }

  private static String positional(PositionalParamSpec parameter) {
    String place =
        parameter.index().isVariable() || parameter.arity().isVariable()
            ? "*"
            : Integer.toString(parameter.index().min() + 1);
    return quoted(place + ":" + escaped(parameter.paramLabel(), ":") + ":" + values(parameter));
  }

  /**
   * The zsh action that completes a value; empty when only the user can know the value. Words that
   * are only described would prevent the completion of options.
   */
  private static String values(ArgSpec of) {
    Class<?> type = of.auxiliaryTypes().length > 0 ? of.auxiliaryTypes()[0] : of.type();
    if (type == Path.class || type == File.class) {
      return "_files";
    }
    return of.completionCandidates() == null
        ? "( )"
        : "(" + String.join(" ", of.completionCandidates()) + ")";
  }

  private static String first(String... lines) {
    return lines.length == 0 ? "" : lines[0];
  }

  private static String escaped(String text, String special) {
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char each = text.charAt(i);
      if (each == '\\' || special.indexOf(each) >= 0) {
        escaped.append('\\');
      }
      escaped.append(each);
    }
    return escaped.toString();
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
