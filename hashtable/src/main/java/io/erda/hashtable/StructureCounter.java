package io.erda.hashtable;

/** The root's structure counter: odd while an entry is being moved, and only then. Readers that find no match require it even and unchanged. */
public interface StructureCounter {
  /** Makes the counter odd, visible before any store that follows. */
  void beginMove();

  /** Makes the counter even and higher, visible after every store before. */
  void endMove();
}
