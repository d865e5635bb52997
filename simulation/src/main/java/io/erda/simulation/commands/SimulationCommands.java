package io.erda.simulation.commands;

import io.erda.console.CommandProvider;
import java.util.List;

/** The command that simulates. */
public final class SimulationCommands implements CommandProvider {
  @Override
  public List<Class<?>> commands() {
    return List.of(SimulateCommand.class);
  }
}
