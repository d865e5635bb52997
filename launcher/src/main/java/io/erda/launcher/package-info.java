/**
 * The program behind {@code ./erda}: the line that was typed is read, a command is run, and what
 * went wrong is told in one line.
 *
 * <p>Read {@code Main} first, then {@code ErdaCommand}, which names the commands of this module.
 * Those of the laboratory come by {@code CommandProvider}. Which flags a JVM gets for which command
 * stands in {@code start.sh}.
 */
package io.erda.launcher;
