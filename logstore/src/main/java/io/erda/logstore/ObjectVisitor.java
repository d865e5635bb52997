package io.erda.logstore;

/** Visits the whole objects that a walk over the log finds. */
public interface ObjectVisitor {
  /**
   * A whole object at a place. It may lie inside another's value, where a client wrote it on
   * purpose; so a find counts only if the word of its key names exactly this place.
   *
   * @param offset 8-byte units along the head's regions
   * @param bytes of header, key and value, without padding
   */
  void object(Region region, int offset, long place, int bytes);
}
