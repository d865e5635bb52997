/**
 * The commands for operators, a class each.
 *
 * <p>Read {@code GetCommand} first, the smallest, and {@code ServerCommand}, the largest. A new
 * command is named in {@code ErdaCommand} and in the {@code case} of {@code start.sh}.
 */
package io.erda.launcher.commands;
