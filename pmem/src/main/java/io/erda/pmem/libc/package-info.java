/**
 * The C library: the calls that the JDK does not offer, and the errors that they end with.
 *
 * <p>Read {@code Libc} first. Nobody else links its functions ({@code ArchitectureTest}); {@code
 * FileErrors} makes an exception of an error of a file.
 */
package io.erda.pmem.libc;
