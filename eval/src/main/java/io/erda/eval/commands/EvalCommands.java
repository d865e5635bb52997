package io.erda.eval.commands;

import io.erda.console.CommandProvider;
import java.util.List;

/** The commands for measurements. */
public final class EvalCommands implements CommandProvider {
  @Override
  public List<Class<?>> commands() {
    return List.of(QuickstartCommand.class, YcsbCommand.class, EvalCommand.class);
  }
}
