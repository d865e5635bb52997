package io.erda.console;

import java.util.List;

/**
 * Provides commands of {@code ./erda} from outside the launcher, which finds providers by {@link
 * java.util.ServiceLoader}. A build without them has fewer commands.
 */
public interface CommandProvider {
  /**
   * The commands, in the order in which help shows them. The simple name of a class is the
   * command's name followed by {@code Command}: {@code EvalCommand} is {@code ./erda eval}.
   *
   * @return classes for picocli, with a constructor without parameters
   */
  List<Class<?>> commands();
}
