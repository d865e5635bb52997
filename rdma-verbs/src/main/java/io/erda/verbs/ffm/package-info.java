/**
 * A provider for DiSNI that needs no native library of its own: it calls libibverbs and librdmacm
 * through Java's foreign functions. It knows nothing of Erda.
 *
 * <p>Read {@code FfmProvider} first, which installs it. {@code FfmVerbs} has DiSNI's verbs and
 * {@code FfmCm} its connection manager; {@code Libibverbs} and {@code Librdmacm} have the functions
 * of the two libraries.
 */
package io.erda.verbs.ffm;
