/**
 * The changes that a server makes to its own process, by jnr-posix: limits, priority, umask, user
 * and groups; and the signals that end it. No other package calls that library, and no module that
 * an application embeds.
 *
 * <p>Read {@code OwnProcess} first, then {@code ProcessUser}. {@code Library} loads jnr-posix,
 * which takes half a second of processor time, so a server loads it only when an option needs it.
 * {@code EndingSignals} does not need the loading.
 */
package io.erda.launcher.posix;
