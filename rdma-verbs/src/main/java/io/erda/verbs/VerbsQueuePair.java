package io.erda.verbs;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/**
 * A connection over two hardware queue pairs: {@link MessageQueue} and {@link DataQueue}. This
 * class connects, takes completions of the hardware, and reports completions; {@link Outgoing}
 * handles posted work.
 */
final class VerbsQueuePair extends PostingQueuePair {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** The number of idle polls of which one checks for events of the connection manager. */
  private static final int IDLE_POLLS_PER_PUMP = 16;

  private static final int CREDIT_EVERY = MessageQueue.CREDITS / 4;

  private enum State {
    CONNECTING,
    /** The peer has greeted, and waits for an answer. */
    ASKED,
    CONNECTED,
    ENDED
  }

  private final String peer;
  private final byte[] greeting;

  /** Requests the connection; null when the peer has requested it. */
  private final Asking asking;

  private final VerbsClaims claims = new VerbsClaims(this, accounts);
  private RdmaCmId id;
  private Link link;
  private MessageQueue messages;
  private DataQueue data;
  private State state = State.CONNECTING;
  private MemorySegment privateData = NOTHING;
  private String failure = "";
  private boolean closed;
  private int idlePolls;

  /** The status to report with {@link Opcode#CONNECT}; -1 when there is none to report. */
  private int connectReport = -1;

  private boolean disconnectReport;

  /** Makes a connection that this end requests. */
  VerbsQueuePair(VerbsDevice device, RdmaCmId id, String peer, byte[] greeting, Tries tries) {
    this(device, id, peer, greeting, new Asking(tries));
  }

  private VerbsQueuePair(
      VerbsDevice device, RdmaCmId id, String peer, byte[] greeting, Asking asking) {
    super(device);
    this.id = id;
    this.peer = peer;
    this.greeting = greeting;
    this.asking = asking;
  }

  /**
   * Makes a connection that a peer has requested. It is established by the peer's greeting.
   *
   * @throws IOException when it can't be made; then only the ID remains
   */
  static VerbsQueuePair asked(VerbsDevice device, RdmaCmId id, String peer) throws IOException {
    VerbsQueuePair asked = new VerbsQueuePair(device, id, peer, new byte[0], (Asking) null);
    asked.open();
    try {
      asked.link.arm();
      id.accept(Link.parameters());
      return asked;
    } catch (IOException | RuntimeException | Error e) {
      asked.link.close();
      throw e;
    }
  }

  private void open() throws IOException {
    link = new Link(device, id, accounts);
    messages = link.messages;
    outgoing.over(messages);
  }

  private void openData() throws IOException {
    data = link.openData();
    outgoing.over(data);
  }

  RdmaCmId id() {
    return id;
  }

  Accounts accounts() {
    return accounts;
  }

  // Connecting.

  void connect(InetSocketAddress to) throws IOException {
    asking.begin(id, to);
  }

  /**
   * Gives up the request, which the peer has not answered, and makes another one. The kernel tells
   * the peer that the request was given up.
   */
  private void askAgain() throws IOException {
    Link ended = link;
    link = null;
    ended.close();
    RdmaCmId before = id;
    id = device.replaceId(this);
    before.destroyId();
    asking.beginAgain(id);
  }

  /**
   * Handles an event of the connection manager.
   *
   * @param status an errno, or the reason of the other end's refusal
   */
  void onEvent(int event, int status) throws IOException {
    if (closed || state == State.ENDED) {
      return;
    }
    switch (event) {
      case CmEvents.ADDR_RESOLVED -> {
        device.requireOpened(id.getVerbs());
        open();
        asking.foundDevice();
      }
      case CmEvents.ROUTE_RESOLVED -> asking.foundRoute();
      case CmEvents.ESTABLISHED -> {
        if (isAsking()) {
          asking.answered();
          openData();
          messages.say(Header.HELLO, Header.MAGIC, data.greeting(), greeting);
        }
      }
      case CmEvents.DISCONNECTED -> {
        drain();
        end(Status.UNREACHABLE, "the other end left");
      }
      default -> {
        if (CmEvents.isFailure(event) && !(isAsking() && asking.goesOn(event, status))) {
          end(Status.UNREACHABLE, CmEvents.text(event, status));
        }
      }
    }
  }

  private void end(int statusWhileConnecting, String why) {
    if (state == State.ENDED) {
      return;
    }
    failure = why;
    if (isAsking() && state == State.CONNECTING) {
      connectReport = statusWhileConnecting;
    } else {
      disconnectReport = true;
    }
    state = State.ENDED;
    outgoing.endAll();
  }

  private void lookAtTheTime() throws IOException {
    if (asking.isUnanswered()) {
      askAgain();
    } else if (asking.isOver() && asking.isAddressMissing()) {
      end(Status.UNREACHABLE, WayFinder.notFound());
    } else if (asking.isOver()) {
      end(Status.TIMEOUT, "");
    }
  }

  /** Whether this end has requested the connection. */
  private boolean isAsking() {
    return asking != null;
  }

  @Override
  void failed(IOException why) {
    end(Status.LOCAL, why.getMessage());
  }

  /** Whether a peer has greeted and waits for an answer. */
  boolean isAsked() {
    return state == State.ASKED;
  }

  boolean isOver() {
    return state == State.ENDED || closed;
  }

  /** Takes the greeting of a peer, if it has come; for the listener. */
  void progress() {
    try {
      drain();
      link.arm();
      drain();
    } catch (IOException e) {
      failed(e);
    }
  }

  void accept(byte[] answer) {
    if (state != State.ASKED) {
      return; // The peer has left. This is reported as for every connection.
    }
    try {
      state = State.CONNECTED;
      messages.say(Header.ACCEPT, Header.MAGIC, data.greeting(), answer);
    } catch (IOException e) {
      failed(e);
    }
  }

  void reject(byte[] answer) {
    if (state != State.ASKED) {
      return;
    }
    try {
      messages.say(Header.REJECT, Header.MAGIC, 0, answer);
    } catch (IOException e) {
      failed(e);
    }
  }

  // Posting.

  @Override
  boolean isConnected() {
    return mayStart() && !accounts.withdrawn && !accounts.peerWithdrew;
  }

  @Override
  boolean mayStart() {
    return state == State.CONNECTED;
  }

  @Override
  boolean mayPost(int count) {
    requireOpen();
    return outgoing.hasRoom(count) && state != State.CONNECTING;
  }

  @Override
  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the queue pair is closed");
    }
  }

  // Completions.

  /** Takes completions of hardware, and starts work that they allow. */
  private boolean drain() throws IOException {
    if (link == null || closed) {
      return false;
    }
    boolean any = false;
    int polled;
    do {
      polled = link.poll();
      for (int i = 0; i < polled; i++) {
        completed(link.completion(i));
      }
      any |= polled > 0;
    } while (link.isFull(polled));
    if (any && mayStart()) {
      outgoing.repair();
      outgoing.start();
    }
    return any;
  }

  private void completed(IbvWC completion) throws IOException {
    int number = (int) Tags.number(completion.getWr_id());
    int status = completion.getStatus();
    long kind = Tags.kind(completion.getWr_id());
    if (kind == Tags.RECEIVED) {
      if (status == Hardware.SUCCESS) {
        received(number, completion.getByte_len());
      }
      return;
    }
    boolean answered;
    if (kind == Tags.SENT) {
      answered = status == Hardware.SUCCESS;
      outgoing.sent(number, answered);
    } else {
      answered = outgoing.completed(completion);
    }
    if (!answered) {
      end(Status.UNREACHABLE, Hardware.text(status));
    }
  }

  private void received(int slot, int bytes) throws IOException {
    MemorySegment memory = messages.memory();
    long at = MessageQueue.receivedAt(slot);
    int kind = bytes < Header.BYTES ? 0 : Header.kind(memory, at);
    int length = kind == 0 ? 0 : Header.length(memory, at);
    if (kind == 0 || kind != Header.WRITTEN && length != bytes - Header.BYTES) {
      incompatible();
      return;
    }
    accounts.hear(memory, at);
    if (kind == Header.MESSAGE || kind == Header.WRITTEN) {
      if (accounts.peerWithdrew) {
        messages.postReceive(slot);
      } else {
        receives.arrived(slot);
      }
      return;
    }
    switch (kind) {
      case Header.HELLO, Header.ACCEPT, Header.REJECT -> greeted(kind, at, length);
      case Header.WITHDRAW -> peerWithdraws();
      case Header.WITHDRAWN -> accounts.claimedByPeer = Header.argument(memory, at);
      case Header.RESYNC, Header.RESYNCED -> renewed(kind, Header.argument(memory, at));
      case Header.CREDIT, Header.FINISHED -> {}
      default -> {
        incompatible();
        return;
      }
    }
    messages.postReceive(slot);
  }

  private void incompatible() {
    end(Status.INCOMPATIBLE, "it sent what is none of this protocol");
  }

  private void greeted(int kind, long at, int length) throws IOException {
    MemorySegment from = messages.memory();
    if (Header.imm(from, at) != Header.MAGIC
        || length > Device.PRIVATE_DATA_MAX
        || state != State.CONNECTING
        || isAsking() == (kind == Header.HELLO)
        || isAsking() && data == null) {
      incompatible();
      return;
    }
    privateData = MemorySegment.ofArray(new byte[length]);
    MemorySegment.copy(from, at + Header.BYTES, privateData, 0, length);
    long peerData = Header.argument(from, at);
    if (kind == Header.REJECT) {
      end(Status.REJECTED, "refused");
      return;
    }
    if (kind == Header.HELLO) {
      openData();
      state = State.ASKED;
    } else {
      connectReport = Status.SUCCESS;
      state = State.CONNECTED;
    }
    data.ready(peerData);
  }

  private void peerWithdraws() throws IOException {
    if (accounts.peerWithdrew) {
      incompatible();
      return;
    }
    accounts.peerWithdrew = true;
    receives.dropMessages();
    outgoing.endAll();
    disconnectReport = true;
    messages.say(Header.WITHDRAWN, accounts.claimed);
  }

  /** Handles that the peer has reset its queue pair for READs and WRITEs. */
  private void renewed(int kind, long peerData) throws IOException {
    if (!mayStart() || kind == Header.RESYNCED && !data.isWaiting()) {
      incompatible();
    } else if (kind == Header.RESYNC) {
      outgoing.resync(peerData);
    } else {
      data.ready(peerData);
    }
  }

  @Override
  public int poll(CompletionHandler handler, int limit) {
    if (closed) {
      return 0;
    }
    try {
      if (!drain() && (state == State.CONNECTING || ++idlePolls >= IDLE_POLLS_PER_PUMP)) {
        idlePolls = 0;
        device.pump(this);
        if (state == State.CONNECTING && isAsking()) {
          lookAtTheTime();
        }
      }
    } catch (IOException e) {
      failed(e);
    }
    int done = 0;
    while (done < limit && !closed && reportOne(handler)) {
      done++;
    }
    return done;
  }

  /** Whether a poll would report a completion. */
  boolean hasReport() {
    return connectReport >= 0
        || outgoing.hasReport()
        || receives.hasMessage() && !receives.isEmpty()
        || isGone() && (!receives.isEmpty() || disconnectReport);
  }

  /** Whether nothing can come from the peer any more. */
  private boolean isGone() {
    return state == State.ENDED || accounts.peerWithdrew;
  }

  private boolean reportOne(CompletionHandler handler) {
    if (connectReport >= 0) {
      int status = connectReport;
      connectReport = -1;
      handler.onCompletion(0, Opcode.CONNECT, status, 0, 0);
    } else if (outgoing.hasReport()) {
      outgoing.report(handler);
    } else if (receives.hasMessage() && !receives.isEmpty()) {
      deliver(handler);
    } else if (isGone() && !receives.isEmpty()) {
      long wrId = receives.wrId();
      receives.remove();
      handler.onCompletion(wrId, Opcode.RECEIVE, Status.FLUSHED, 0, 0);
    } else if (isGone() && disconnectReport) {
      disconnectReport = false;
      handler.onCompletion(0, Opcode.DISCONNECT, Status.SUCCESS, 0, 0);
    } else {
      return false;
    }
    return true;
  }

  private void deliver(CompletionHandler handler) {
    int slot = receives.takeMessage();
    long wrId = receives.wrId();
    MemorySegment from = messages.memory();
    long at = MessageQueue.receivedAt(slot);
    int length = Header.length(from, at);
    int imm = Header.imm(from, at);
    boolean written = Header.kind(from, at) == Header.WRITTEN;
    int status = Status.SUCCESS;
    if (!written && length > receives.length()) {
      status = Status.LENGTH;
    } else if (!written) {
      MemorySegment.copy(
          from, at + Header.BYTES, receives.region().memory(), receives.offset(), length);
    }
    receives.remove();
    accounts.consumed++;
    device.received();
    if (state == State.CONNECTED) {
      try {
        messages.postReceive(slot);
        if (accounts.untold() >= CREDIT_EVERY) {
          messages.say(Header.CREDIT, 0);
        }
      } catch (IOException e) {
        failed(e);
      }
    }
    handler.onCompletion(
        wrId, written ? Opcode.RECEIVE_IMM : Opcode.RECEIVE, status, length, written ? imm : 0);
  }

  @Override
  public boolean arm() {
    requireOpen();
    if (hasReport()) {
      return false;
    }
    try {
      device.hearWatcher();
      if (link != null && state != State.ENDED) {
        link.arm();
        drain();
      }
    } catch (IOException e) {
      failed(e);
    }
    return !hasReport();
  }

  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  // The end.

  @Override
  public Claims claims() {
    return claims;
  }

  void tryToSay(int kind) {
    try {
      messages.say(kind, 0);
    } catch (IOException e) {
      failed(e);
    }
  }

  @Override
  public MemorySegment privateData() {
    return privateData;
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public String failure() {
    return failure;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    state = State.ENDED;
    device.forget(this);
    try {
      if (link != null) {
        link.close();
      }
      id.destroyId();
    } catch (IOException e) {
      throw new IllegalStateException("can't close the connection to " + peer, e);
    }
  }
}
