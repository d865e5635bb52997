/**
 * What the commands of {@code ./erda} share, those of the launcher and those of the laboratory: how
 * they tell progress, results and errors, and with which settings a JVM of the build is started.
 */
package io.erda.console;
