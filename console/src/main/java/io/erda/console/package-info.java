/**
 * The common parts of the commands of {@code ./erda}, those of the launcher and those for measuring
 * and testing: progress, results, errors, and the settings for starting a JVM of the build.
 */
package io.erda.console;
