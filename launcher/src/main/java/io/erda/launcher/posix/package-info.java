/**
 * What a server needs of its own process: limits, priority, umask, user and groups, signals, by
 * jnr-posix. No other package calls that library, and no module that an application embeds.
 *
 * <p>{@code Library} loads it: half a second of processor time, which a server spends only when an
 * option needs it. {@code EndingSignals} does not need the loading.
 */
package io.erda.launcher.posix;
