/**
 * Lock-free log cleaning (design, "Cleaning"; Erda paper, section 4.4), in the phases of {@link
 * io.erda.cleaner.Phase}: what is live in a region is copied to another one of the same head, word
 * by word in the table, while clients read and write; then the region is retired.
 *
 * <p>{@link io.erda.cleaner.Cleaner} is what a server steps. It reaches table and publication
 * through {@link io.erda.cleaner.Entries} alone.
 */
package io.erda.cleaner;
