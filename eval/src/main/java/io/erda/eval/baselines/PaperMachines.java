package io.erda.eval.baselines;

import io.erda.simulation.NetworkModel;

/**
 * The machines of the simulated figures: a server and clients on a 40 Gb/s fabric, persistent
 * memory that takes 150 ns more a write (the paper's §5.1), and the processor times of operations,
 * which the paper does not state. All times are virtual nanoseconds.
 */
final class PaperMachines {
  /** Holds an object of 4 KiB in one message. */
  static final int MESSAGE_BYTES_MAX = 16 << 10;

  static final NetworkModel NETWORK = NetworkModel.PAPERS.steady(MESSAGE_BYTES_MAX);

  /** The bandwidth of the server's link: 40 Gb/s, in bytes a nanosecond. */
  static final double LINK_BYTES_PER_NS = 5;

  /**
   * The server's time for a message: taking it from a completion queue, looking a key up, posting
   * the answer.
   */
  static final long MESSAGE_NS = 1_000;

  /** The time of each store to persistent memory. */
  static final long STORE_NS = 150;

  /** The server's time for copying a byte. */
  static final double NS_PER_BYTE = 0.1;

  /** A client's time between the end of an operation and the next one. */
  static final long CLIENT_NS = 300;

  private PaperMachines() {}
}
