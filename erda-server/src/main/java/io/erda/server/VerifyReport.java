package io.erda.server;

import java.util.List;

/**
 * What {@link StoreVerifier} found.
 *
 * @param entries of the table that were looked at
 * @param values whose newest version is whole
 * @param tombstones deleted keys whose entry is still there
 * @param findings what is wrong, empty for a sound store
 * @param notes what recovery did when the store was opened
 */
public record VerifyReport(
    long entries, long values, long tombstones, List<Finding> findings, List<String> notes) {
  /**
   * Something that is wrong.
   *
   * @param key of the object, or null where it can't be told
   * @param what is wrong, in words with numbers
   */
  public record Finding(byte[] key, String what) {}
}
