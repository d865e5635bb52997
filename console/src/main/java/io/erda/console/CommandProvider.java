package io.erda.console;

import java.util.List;

/**
 * Commands of {@code ./erda} that stand outside of the launcher. The launcher finds providers by
 * {@link java.util.ServiceLoader}, so a build without them is a build with fewer commands.
 */
public interface CommandProvider {
  /**
   * The commands, in the order in which help shows them. The simple name of a class is the
   * command's name, with {@code Command} behind it: {@code EvalCommand} is {@code ./erda eval}.
   *
   * @return classes that picocli makes commands of, with a constructor without parameters
   */
  List<Class<?>> commands();
}
