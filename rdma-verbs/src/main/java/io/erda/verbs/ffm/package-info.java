/**
 * A provider for DiSNI that needs no native library of its own: it calls libibverbs and librdmacm
 * through Java's foreign functions. It knows nothing of Erda.
 */
package io.erda.verbs.ffm;
