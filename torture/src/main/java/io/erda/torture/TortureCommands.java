package io.erda.torture;

import io.erda.console.CommandProvider;
import java.util.List;

/** The command that tortures. */
public final class TortureCommands implements CommandProvider {
  @Override
  public List<Class<?>> commands() {
    return List.of(TortureCommand.class);
  }
}
