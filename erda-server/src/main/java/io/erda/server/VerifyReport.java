package io.erda.server;

import java.util.List;

/**
 * What {@link StoreVerifier} found. Every entry is one of four: {@code entries} is the sum of
 * {@code values}, {@code tombstones}, {@code undecided} and {@code damaged}.
 *
 * @param proven whether the store was stopped cleanly and its table is, byte for byte, what the
 *     server left: then no entry is lost or old
 * @param entries of the table that were checked
 * @param values whose newest version is whole
 * @param tombstones deleted keys whose entry is still there
 * @param undecided entries whose only version was never committed
 * @param damaged entries that are damaged, or whose newest version is
 * @param findings damage that was found, empty for a sound store; at most {@link #KEPT_MAX}
 * @param findingsCount how many findings there were
 * @param doubts what may be damage or the traces of a killed server; at most {@link #KEPT_MAX};
 *     empty when the table is proven
 * @param doubtsCount how many doubts there were
 * @param notes what recovery did when the store was opened
 */
public record VerifyReport(
    boolean proven,
    long entries,
    long values,
    long tombstones,
    long undecided,
    long damaged,
    List<Finding> findings,
    long findingsCount,
    List<Finding> doubts,
    long doubtsCount,
    List<String> notes) {
  /** The most findings, and the most doubts, that are kept; the others are counted. */
  public static final int KEPT_MAX = 100_000;

  /**
   * Damage, or a doubt.
   *
   * @param key that is concerned, or null when it is unknown
   * @param what is wrong, in words with numbers
   */
  public record Finding(byte[] key, String what) {}
}
