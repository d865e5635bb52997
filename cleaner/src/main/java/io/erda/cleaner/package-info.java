/**
 * Lock-free log cleaning (design, "Cleaning"; Erda paper, section 4.4), in the phases of {@link
 * io.erda.cleaner.Phase}: what is live in a region is copied to another one of the same head, word
 * by word in the table, while clients read and write; then the region is retired.
 *
 * <p>{@link io.erda.cleaner.Cleaner} is what a server steps; read it first. It reaches table and
 * publication through {@link io.erda.cleaner.Entries} alone. When a cleaning begins and what it
 * must gain is {@code Cleaner}, {@code Footprint} and {@link io.erda.cleaner.CleanerOptions}. Which
 * region is taken is {@code Victims}, by a score of what lives in it and its age; the cleaner says
 * which regions it may choose from. {@code Fate} says what becomes of each word, and {@code
 * Relocation} copies and changes it.
 */
package io.erda.cleaner;
