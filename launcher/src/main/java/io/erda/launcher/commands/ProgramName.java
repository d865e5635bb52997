package io.erda.launcher.commands;

import picocli.CommandLine;

/**
 * The name by which users start this program. Help and messages say {@code ./erda}, as in a source
 * tree; an installed one has another name.
 */
public final class ProgramName {
  private static final String WRITTEN = "./erda";
  private static final String STARTED = System.getProperty("erda.command", WRITTEN);

  /** A text for users, with the name that they use. */
  public static String in(String text) {
    return text.replace(WRITTEN, STARTED);
  }

  /** Replaces the name in the help of a command and its subcommands. */
  public static void inHelpOf(CommandLine command) {
    command.getHelpSectionMap().replaceAll((key, section) -> help -> in(section.render(help)));
    command.getSubcommands().values().forEach(ProgramName::inHelpOf);
  }

  private ProgramName() {}
}
