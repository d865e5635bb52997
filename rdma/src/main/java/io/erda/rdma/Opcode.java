package io.erda.rdma;

/**
 * The kind of posted work, or of an event, that a completion reports.
 *
 * <p><b>A new operation.</b> These are numbers, so the compiler can't find the places that must
 * know a new one. The method {@code post} of every device throws for an operation without a case,
 * but the following places have a default that is right only for today's operations. In {@link
 * Work}: the table, {@code hasLocal}, {@code isMessage} and {@code isWellFormed}. In {@code
 * TcpQueuePair}: {@code firstFrameBytes}, whose default is the length of a COMPARE_AND_SWAP, and
 * {@code messageBytes}. In {@code tcp.Requests}: {@code owesData}. In {@code tcp.Frame} the
 * operation needs a type, and {@code ServedConnection.onFrame} a case for it. In {@code
 * tcp.Completions}: {@code isOfRequest}. In the simulation: {@code RemoteKeys.needed}, whose
 * default is the right to WRITE; {@code Responder}, which executes any unknown operation that is
 * neither a WRITE nor a SEND as a COMPARE_AND_SWAP; {@code Reach.reachesTheDead}; and the
 * predicates of {@code PostedWork}.
 */
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
