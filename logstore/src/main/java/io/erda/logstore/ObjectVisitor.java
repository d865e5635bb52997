package io.erda.logstore;

/** Visits the whole objects that a walk over the log finds. */
public interface ObjectVisitor {
  /**
   * Called for a whole object at a place. The object may lie inside the value of another object,
   * where a client wrote it on purpose. So it counts only if the word of its key names exactly this
   * place.
   *
   * @param offset 8-byte units along the head's regions
   * @param bytes the length of header, key and value, without padding
   */
  void object(Region region, int offset, long place, int bytes);
}
