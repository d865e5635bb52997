package io.erda.server;

import java.util.List;

/**
 * The result of {@link StoreVerifier}. Every entry counts as one of four kinds: {@code entries} is
 * the sum of {@code values}, {@code tombstones}, {@code undecided} and {@code damaged}.
 *
 * @param proven whether the store was stopped cleanly and its table has, byte for byte, the content
 *     that the server left; then no entry is lost or old
 * @param entries entries of the table that were checked
 * @param values entries whose newest version is a whole value
 * @param tombstones entries of deleted keys
 * @param undecided entries whose only version was never committed
 * @param damaged entries that are damaged, or whose newest version is damaged
 * @param findings the damage that was found, empty for a sound store; at most {@link #KEPT_MAX}
 * @param findingsCount how many findings there were
 * @param doubts observations that may be damage or traces of a killed server; at most {@link
 *     #KEPT_MAX}; empty when the table is proven
 * @param doubtsCount how many doubts there were
 * @param notes the actions of recovery when the store was opened
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
   * @param key the key that is concerned, or null when it is unknown
   * @param what a description with numbers
   */
  public record Finding(byte[] key, String what) {}
}
