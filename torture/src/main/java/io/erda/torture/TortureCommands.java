package io.erda.torture;

import io.erda.console.CommandProvider;
import java.util.List;

/** Provides the command {@code torture}. */
public final class TortureCommands implements CommandProvider {
  @Override
  public List<Class<?>> commands() {
    return List.of(TortureCommand.class);
  }
}
