/**
 * Lock-free log cleaning (design, "Cleaning"; Erda paper, section 4.4), in the phases of {@link
 * io.erda.cleaner.Phase}: the live objects of a region are copied to another one of the same head,
 * word by word in the table, while clients read and write; then the region is retired.
 *
 * <p>A server steps {@link io.erda.cleaner.Cleaner}, which reaches table and publication only
 * through {@link io.erda.cleaner.Entries}.
 */
package io.erda.cleaner;
