package io.erda.hashtable;

/**
 * The root's structure counter: odd while an entry is being moved, and while a pending version is
 * judged; even at all other times. Readers that find no match require it even and unchanged. The
 * owner of the root implements it.
 *
 * <p>A crash may leave the counter odd. {@link HashTable#open} calls both methods once in any case,
 * so both methods must work from an odd value too: {@code beginMove} may store {@code c | 1}, and
 * {@code endMove} may store {@code (c | 1) + 1}.
 */
public interface StructureCounter {
  /** Makes the counter odd and not lower. This store is visible before all stores that follow. */
  void beginMove();

  /** Makes the counter even and higher. This store is visible after all earlier stores. */
  void endMove();
}
