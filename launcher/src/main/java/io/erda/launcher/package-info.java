/**
 * The program behind {@code ./erda}. It parses the command line, runs a command, and reports an
 * error in one line.
 *
 * <p>Read {@code Main} first, then {@code ErdaCommand}, which names the commands of this module.
 * The commands for measuring and testing come from {@code CommandProvider}s. {@code start.sh} has
 * the JVM flags of each command.
 */
package io.erda.launcher;
