package io.erda.server.engine.service;

import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.server.engine.publishing.Requester;
import io.erda.server.engine.publishing.Reservation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * One client, as the server sees it: its queue pair, message slots and reservations. Owns them.
 *
 * <p>A message slot is a receive buffer and the buffer of its response. A slot's receive is posted
 * again only when its response has been sent. So there is always room for an answer, and a client
 * that does not receive its responses blocks only itself.
 */
final class Connection implements CompletionHandler, Requester, AutoCloseable {
  private static final int SLOTS = Protocol.REQUESTS_MAX;
  private static final int SLOT_BYTES = Protocol.MESSAGE_BYTES_MAX;
  private static final long RESPONSES = (long) SLOTS * SLOT_BYTES;
  static final long BUFFER_BYTES = 2 * RESPONSES;
  private static final long SEND_ID = 1L << 32;

  private static final MemoryGuard.Access<Connection, Object> POST_OR_PUT_OFF =
      (connection, _, slot, _, _, _) -> {
        if (!connection.unsent.isEmpty() || !connection.postResponse((int) slot)) {
          connection.unsent.add((int) slot);
        }
        return 0;
      };

  final Port port;
  final QueuePair queuePair;
  final int clientId;
  final int connectionEpoch;

  /** The process ID that the client sent; only for messages. */
  final long processId;

  /** The newest epoch whose map the client was sent; it has no remote keys of later ones. */
  long mapEpoch = -1;

  /** The line in which the client commits by itself; −1 when it does not. */
  int commitsLine = -1;

  /** The share of the client's user. */
  final UserShare share;

  /** The most requests under way. */
  private final int operationsMax;

  final Reservations reservations;

  /** Size of the next extent of each head, bytes; grows from one object up by doubling. */
  final int[] extentBytes;

  private final RequestDispatch requests;
  private final LeaseGrants leases;
  private final Claims claims;
  private final MessageBuffers messageBuffers;
  private final Answers answers;
  private final MemoryRegion memory;
  private final Work response = Work.send().signaled();
  private final ArrayDeque<Integer> unsent = new ArrayDeque<>();

  /**
   * The length of the response by slot; 0 while the slot waits for a request, or the request is not
   * answered yet.
   */
  private final int[] responseLengths = new int[SLOTS];

  /** By slot: when the request came, or 0 when it is not timed. */
  private final long[] beganNs = new long[SLOTS];

  private final MemoryGuard faults = new MemoryGuard();

  /** Number of requests that have come and are not answered. */
  private int underWay;

  /** The number of unanswered requests that may take effect. */
  private int open;

  /** Whether to finish the claims as soon as no request is open any more. */
  private boolean finishes;

  /**
   * Whether an answer told of a failure of the store's files. The request of that answer may still
   * take effect when the files are opened again, and the client may not have received the answer;
   * so no claims are finished from then on.
   */
  private boolean leftUndecided;

  private int handled;
  private boolean served;
  private boolean gone;
  private boolean misbehaved;
  private boolean closed;

  Connection(
      RequestDispatch requests,
      LeaseGrants leases,
      Port port,
      QueuePair queuePair,
      int clientId,
      int connectionEpoch,
      long processId,
      UserShare share,
      int operationsMax,
      int heads,
      MemoryRegion memory,
      MessageBuffers messageBuffers,
      Answers answers) {
    this.requests = requests;
    this.leases = leases;
    this.port = port;
    this.queuePair = queuePair;
    this.claims = queuePair.claims();
    this.clientId = clientId;
    this.connectionEpoch = connectionEpoch;
    this.processId = processId;
    this.share = share;
    this.operationsMax = operationsMax;
    this.extentBytes = new int[heads];
    this.reservations =
        new Reservations(
            heads, share, queuePair::revoke, reservation -> leases.ended(this, reservation));
    this.messageBuffers = messageBuffers;
    this.answers = answers;
    this.memory = memory;
    for (int slot = 0; slot < SLOTS; slot++) {
      postReceive(slot);
    }
  }

  /**
   * The memory of the message slots; a slot's request is at {@link #requestAt}, its response at
   * {@link #responseAt}.
   */
  MemorySegment buffers() {
    return memory.memory();
  }

  static long requestAt(int slot) {
    return (long) slot * SLOT_BYTES;
  }

  static long responseAt(int slot) {
    return RESPONSES + (long) slot * SLOT_BYTES;
  }

  /** Handles the messages that arrived. Returns how many. */
  int doWork() {
    handled = 0;
    if (!faults.attempt(this, Connection::answerAndPoll)) {
      giveUpAfter(faults.fault());
    }
    return handled;
  }

  private void answerAndPoll() {
    while (!unsent.isEmpty() && postResponse(unsent.peek())) {
      unsent.poll();
      handled++;
    }
    queuePair.poll(this, SLOTS);
  }

  /**
   * Lets the thread that brings the client's requests handle them, in turns with the server's
   * thread.
   *
   * @param step handles them, and returns whether it leaves no work for the server's thread
   */
  void serveIn(Turn turn, Predicate<Connection> step) {
    BooleanSupplier once = () -> step.test(this);
    served = queuePair.onArrival(() -> turn.take(once));
  }

  /** Whether the thread that brings the client's requests handles them. */
  boolean isServed() {
    return served;
  }

  /** As {@link QueuePair#arm}. */
  boolean arm() {
    int armed = faults.step(queuePair, pair -> pair.arm() ? 1 : 0);
    if (armed == MemoryGuard.FAULT) {
      giveUpAfter(faults.fault());
    }
    return armed == 1;
  }

  /** Whether a message may have come, or something that was put off can be done. */
  boolean mayHaveWork() {
    return gone
        || !unsent.isEmpty()
        || faults.step(queuePair, pair -> pair.mayComplete() ? 1 : 0) != 0;
  }

  /**
   * Ends this connection after a fault, because its shared file was shortened, or the disk has no
   * room for its pages.
   *
   * @throws MemoryFault when the connection's pages are accessible; then the fault has passed, or
   *     was in a file of the store
   */
  private void giveUpAfter(MemoryFault fault) {
    gone = true;
    if (!queuePair.isMemoryLost()) {
      throw fault;
    }
  }

  /** Ends this connection after a fault in its memory. */
  private void giveUpItsMemory() {
    gone = true;
    queuePair.isMemoryLost();
  }

  boolean gone() {
    return gone;
  }

  /**
   * Gives up this client, because its connection broke or the server ends. The server closes the
   * connection at the end of the step.
   */
  @Override
  public void giveUp() {
    gone = true;
  }

  /** Gives up this client, because it violated the protocol. */
  void giveUpBecauseOfGarbage() {
    gone = true;
    misbehaved = true;
  }

  /** Whether the client was given up because it violated the protocol. */
  boolean misbehaved() {
    return misbehaved;
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    handled++;
    if (gone) {
      return;
    }
    if (opcode == Opcode.DISCONNECT) {
      gone = true;
    } else if (status == Status.LENGTH || opcode == Opcode.RECEIVE_IMM) {
      // The client violated the protocol: no request is longer than a slot, and no request is a
      // WRITE with immediate data. The slot's receive is used up, and there is no request to
      // answer.
      giveUpBecauseOfGarbage();
    } else if (status != Status.SUCCESS) {
      gone = true;
    } else if (opcode == Opcode.RECEIVE) {
      // Check for faults here, so that a fault of this client is not thrown in the middle of work
      // for others.
      faults.surface();
      requests.onMessage(this, (int) wrId, byteLength);
    } else if (opcode == Opcode.SEND) {
      postReceive((int) (wrId - SEND_ID));
    }
  }

  @Override
  public boolean claim() {
    return !gone && isSo(asked -> asked.claim() ? 1 : 0);
  }

  @Override
  public boolean isThere() {
    return !gone && isSo(asked -> asked.isPeerThere() ? 1 : 0);
  }

  /**
   * Evaluates a condition on the claims of the queue pair; false when the memory of the claims is
   * missing.
   */
  private boolean isSo(MemoryGuard.Step<Claims> question) {
    int answer = faults.step(claims, question);
    if (answer == MemoryGuard.FAULT) {
      giveUpItsMemory();
    }
    return answer == 1;
  }

  @Override
  public void decided(Reservation reservation) {
    if (!closed) {
      reservations.decided(reservation);
    }
    leases.decided(reservation);
  }

  /** Notes that a request came; {@link #respond} ends it. */
  void begun(int slot, int type) {
    beganNs[slot] = answers.begun(type);
    open += mayTakeEffect(type) ? 1 : 0;
    underWay++;
    share.operations++;
  }

  /**
   * Why a request that has begun is one too many, in words; null when it is not. A client respects
   * its own limit, which the welcome tells; it can't know that of its user.
   */
  String overLimit(int type) {
    boolean own = underWay > operationsMax;
    if ((!own && share.operations <= share.operationsMax) || !isLimited(type)) {
      return null;
    }
    return "the server takes at most %d operations under way of %s"
        .formatted(
            own ? operationsMax : share.operationsMax,
            own ? "a client" : "the clients of one user");
  }

  /**
   * Whether requests of a type count towards the limits. The others cost little, or report what a
   * client has done or left.
   */
  private static boolean isLimited(int type) {
    return type == Message.LEASE || mayTakeEffect(type);
  }

  private static boolean mayTakeEffect(int type) {
    return type == Message.PUBLISH || type == Message.ERASE || type == Message.ANNOUNCE;
  }

  /**
   * Whether an answer leaves it open if its request takes effect, because the store's files failed.
   */
  private static boolean isUndecided(int type, int result) {
    return result == Result.FAILED && mayTakeEffect(type);
  }

  /**
   * Tells the client, through the device, that the claimed requests have ended ({@link
   * Claims#finish}): they were done and answered, or dropped. A claim covers all requests that had
   * come when it was made, so it is finished only when the last of them is answered.
   */
  void finish() {
    finishes = true;
    if (isThrough()) {
      finishAll();
    }
  }

  /** Whether all requests that may take effect are answered and decided. */
  private boolean isThrough() {
    return open == 0 && !leftUndecided;
  }

  private void finishAll() {
    finishes = false;
    if (!faults.attempt(claims, Claims::finish)) {
      giveUpItsMemory();
    }
  }

  /** Answers that a request was not done, with the reason in words. */
  void refuse(int slot, int type, int result, String why) {
    assert Result.saysWhy(result) : "nobody reads why of " + Result.name(result);
    answer(slot, type, result, Message.putReason(buffers(), responseAt(slot), why));
  }

  /**
   * Sends the response whose body was written at {@link #responseAt}. Some results come with a
   * reason in words ({@link Result#saysWhy}); the peer reads the body of such a response as these
   * words. So a response with such a result is sent without its body. {@link #refuse} sends a
   * result with its reason.
   *
   * @param length the length of the response with its header, bytes
   */
  void respond(int slot, int type, int result, int length) {
    answer(slot, type, result, Result.saysWhy(result) ? Message.HEADER_BYTES : length);
  }

  private void answer(int slot, int type, int result, int length) {
    assert !closed : "an answer in buffers that were given back";
    assert responseLengths[slot] == 0 : "the request in slot " + slot + " is answered twice";
    MemorySegment buffers = buffers();
    Message.putHeader(
        buffers,
        responseAt(slot),
        type,
        result,
        length,
        Message.requestId(buffers, requestAt(slot)),
        clientId,
        connectionEpoch);
    responseLengths[slot] = length;
    int flags = Message.getInt(buffers, requestAt(slot) + Message.PUBLISH_FLAGS);
    answers.answered(type, flags, result, beganNs[slot]);
    if (faults.access(POST_OR_PUT_OFF, this, null, slot, 0, 0, 0) == MemoryGuard.FAULT) {
      giveUpItsMemory();
    }
    open -= mayTakeEffect(type) ? 1 : 0;
    leftUndecided |= isUndecided(type, result);
    underWay--;
    share.operations--;
    if (finishes && isThrough()) {
      finishAll();
    }
  }

  private boolean postResponse(int slot) {
    response.id(SEND_ID + slot).local(memory, responseAt(slot), responseLengths[slot]);
    return queuePair.post(response);
  }

  private void postReceive(int slot) {
    responseLengths[slot] = 0;
    if (!queuePair.postReceive(slot, memory, requestAt(slot), SLOT_BYTES)) {
      gone = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    share.operations -= underWay;
    underWay = 0;
    queuePair.close();
    port.device.deregister(memory);
    messageBuffers.giveBack(memory.memory());
  }
}
