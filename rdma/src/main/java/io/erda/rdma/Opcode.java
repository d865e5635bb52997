package io.erda.rdma;

/**
 * The kind of posted work, or of an event, that a completion reports.
 *
 * <p><b>A new operation.</b> These are numbers, so the compiler can't find the places that must
 * know a new one. {@link Work} needs a factory, a line in the table of its Javadoc, and a case of
 * {@code isWellFormed}. TCP needs a type in {@code tcp.Frame} and a case in {@code
 * ServedConnection.onFrame}; without that case the server takes the frame for garbage and closes
 * the connection.
 *
 * <p>The following throw for an operation without a case: every post, if assertions are on ({@code
 * Work.isWellFormed}); {@code RingQueuePair.post}; {@code TcpQueuePair.post} and {@code
 * firstFrameBytes}; {@code verbs.Outgoing.post} and {@code DataQueue.post}; and in the simulation,
 * when the work is executed, {@code RemoteKeys.needed} and {@code Responder.executeWhole}. {@code
 * ReadOnlyQueuePair.post} completes it with {@link Status#UNSUPPORTED}.
 *
 * <p>The following have a default, which has to be checked for a new operation. {@code
 * Work.hasLocal} says that it uses local memory, and {@code isMessage} that it is no message;
 * {@code TcpQueuePair.messageBytes} says that a message other than a SEND has 4 bytes. {@code
 * tcp.OutstandingRequests.owesData} says that its answer has no data, and {@code
 * tcp.TcpCompletions.isOfRequest} that it is a request. In the simulation the predicates of {@code
 * PostedWork} say that it is executed after earlier work, like a FLUSH, and is not atomic; {@code
 * Reach.reachesTheDead} says that it has no effect after the end of the peer's process; {@code
 * Traffic.moved} counts it as a write, and {@code Severing.stopAtCrash} and {@code
 * SendQueue.isStoreOnTheWay} take it for no store. A new message also concerns {@code
 * TcpResponder.post}, which signals only SENDs, and in the simulation {@code SimulatedReceives},
 * {@code SimulatedCompletions} and {@code MessageDelivery}.
 *
 * <p>A client's {@code Session.onOther} fails the connection when a completion arrives that it does
 * not expect, so who posts the new operation with a completion handles it there.
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
