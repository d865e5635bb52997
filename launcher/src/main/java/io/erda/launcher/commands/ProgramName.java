package io.erda.launcher.commands;

import picocli.CommandLine;

/**
 * How users start this program. Help and messages say {@code ./erda}, as in a source tree; an
 * installed one has another name.
 */
public final class ProgramName {
  private static final String WRITTEN = "./erda";
  private static final String STARTED = System.getProperty("erda.command", WRITTEN);

  /** A text for users, with the name that is theirs. */
  public static String in(String text) {
    return text.replace(WRITTEN, STARTED);
  }

  /** Lets a command and all below it have help with that name. */
  public static void inHelpOf(CommandLine command) {
    command.getHelpSectionMap().replaceAll((key, section) -> help -> in(section.render(help)));
    command.getSubcommands().values().forEach(ProgramName::inHelpOf);
  }

  private ProgramName() {}
}
