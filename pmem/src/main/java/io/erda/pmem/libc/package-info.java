/** The C library: the calls that the JDK does not offer, and the errors that they end with. */
package io.erda.pmem.libc;
