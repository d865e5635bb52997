package io.erda.hashtable;

/**
 * The root's structure counter: odd while an entry is being moved, and while a pending version is
 * judged; even at all other times. Readers that find no match require it even and unchanged. The
 * owner of the root implements it.
 *
 * <p>A crash may leave it odd. {@link HashTable#open} calls both methods once, whatever it finds,
 * so both must do what they say from an odd value too: {@code beginMove: c | 1}, {@code endMove: (c
 * | 1) + 1} do.
 */
public interface StructureCounter {
  /** Makes the counter odd and not lower, visible before any store that follows. */
  void beginMove();

  /** Makes the counter even and higher, visible after every store before. */
  void endMove();
}
