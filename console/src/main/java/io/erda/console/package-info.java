/**
 * The common parts of the commands of {@code ./erda}, those of the launcher and those for measuring
 * and testing: progress, results, errors, and the settings for starting a JVM of the build.
 *
 * <p>Read {@code CommandProvider} first, by which a module adds commands, then {@code UserError},
 * by which a command reports an error that the user can correct. {@code StandardOutput} and {@code
 * ResultFile} take the results.
 */
package io.erda.console;
