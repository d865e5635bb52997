package io.erda.rdma;

/** The kind of work that a completion is about. */
public final class Opcode {
  public static final int READ = 1;
  public static final int WRITE = 2;
  public static final int WRITE_IMM = 3;
  public static final int SEND = 4;

  /** A SEND of the peer's arrived in a posted receive buffer; {@code byteLength} is its length. */
  public static final int RECEIVE = 5;

  /**
   * A WRITE_IMM of the peer's consumed a posted receive buffer; {@code imm} is its immediate data,
   * {@code byteLength} the length of the WRITE.
   */
  public static final int RECEIVE_IMM = 6;

  public static final int FLUSH = 7;
  public static final int ATOMIC_WRITE = 8;
  public static final int COMPARE_AND_SWAP = 9;

  /**
   * {@link Device#connect} ended: {@link Status#SUCCESS}, {@link Status#REJECTED}, {@link
   * Status#UNREACHABLE}, {@link Status#TIMEOUT}.
   */
  public static final int CONNECT = 10;

  /**
   * The connection ended, by the peer or by a fault; reported once, after the completions of
   * outstanding work.
   */
  public static final int DISCONNECT = 11;

  private Opcode() {}
}
