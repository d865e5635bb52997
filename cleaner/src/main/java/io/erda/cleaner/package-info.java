/**
 * Lock-free log cleaning (design, "Cleaning"; Erda paper, section 4.4), in the phases of {@link
 * io.erda.cleaner.Phase}: the live objects of a region are copied to another region of the same
 * head, and their words in the table are changed one by one, while clients read and write; then the
 * region is retired.
 *
 * <p>Read {@link io.erda.cleaner.Cleaner} first, whose steps a server takes. It accesses the table
 * and the publication only through {@link io.erda.cleaner.Entries}. {@code Cleaner}, {@code
 * Footprint} and {@link io.erda.cleaner.CleanerOptions} decide when a cleaning begins and how much
 * it must gain. {@code Victims} chooses the region, by its live bytes and its age, among regions
 * that the cleaner accepts. {@code Fate} decides the action for each word, and {@code Relocation}
 * copies the objects and changes the words.
 */
package io.erda.cleaner;
