package io.erda.launcher;

import io.erda.console.LaunchSettings;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, which {@code --version} prints. */
final class Build implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "erda %s (Java %s)".formatted(LaunchSettings.load().version(), Runtime.version())
    };
  }
}
