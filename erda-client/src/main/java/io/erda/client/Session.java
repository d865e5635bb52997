package io.erda.client;

import io.erda.pmem.FaultPoint;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake;
import io.erda.protocol.Handshake.Refusal;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One connection, and what is valid in it alone: what the server said of itself, the region map,
 * the leases, the requests that are out. Owns its queue pair and message memory.
 *
 * <p>Everything the server sends is checked before it is used; what is wrong ends the connection. A
 * connection is never ended from within a completion: it is marked, and the core ends it after the
 * poll.
 *
 * <p>Message memory: {@code one request per operation | control requests | receives}. At most as
 * many requests are out as receives are posted, so a response always finds one.
 */
final class Session implements CompletionHandler {
  private static final int CONNECTING = 0;
  private static final int MAPPING = 1;
  private static final int READY = 2;

  /** The server is gone; READs may go on where the device says so. */
  private static final int LOST = 3;

  /** Given up by this client; answers to what the server has in its hands still count. */
  private static final int LEAVING = 4;

  /** Good for nothing. */
  private static final int FAILED = 5;

  private static final int CLOSED = 6;

  /** How often it is looked whether a store that has lost its server is still there. */
  private static final long LOOK_NS = 100_000_000;

  private static final int SLOT_BITS = 16;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

  private static final int CONTROLS = 16;
  private static final int CONTROL_BYTES = 64;
  private static final int REQUEST_BYTES = Message.RESOLVE_KEY + Protocol.KEY_BYTES_MAX + 8;
  private static final int POLL_LIMIT = 64;
  private static final int REGIONS_MAX = 65536;
  private static final long HEAD_BYTES_MAX = 1L << 34;

  final ClientCore core;
  final QueuePair queuePair;
  final boolean readsOutlive;
  final MemorySegment memory;
  final long startedNs;
  private final MemoryRegion region;
  private final int operations;
  private final int receives;
  private final int outstandingMax;

  // Of the welcome, taken apart for the hot path.
  Welcome welcome;
  int heads;
  long rootKey;
  long regionBytes;
  int regionShift;
  int segmentBytes;
  int regionsPerHeadMax;

  RegionMap map;
  Leases leases;

  /**
   * The structure counter that a completed root READ of this connection showed last; odd before the
   * first. See {@link Get}.
   */
  long counterSeen = -1;

  private int phase = CONNECTING;
  private ErdaException failure;
  private String reason = "";
  private boolean unsettled;
  private long lookedNs;

  /** The device said that the connection ended: nothing comes any more. */
  private boolean disconnected;

  /** What of the requests may still take effect; null while the connection is used. */
  private Withdrawal withdrawal;

  // Requests that are out, by slot: operations first, then controls.
  private final long[] requestIds;

  /** The device's number of each request's message. */
  private final long[] messages;

  private final int[] requestTypes;
  private final int[] controlHeads;
  private final int[] controlAsked;
  private long requestSerial;
  private int outstanding;
  private long unpostedReceives;

  private final FaultPoint faults = new FaultPoint();
  private final MapFetch mapFetch = new MapFetch(this);

  Session(ClientCore core, QueuePair queuePair, int operations, boolean readsOutlive) {
    this.core = core;
    this.queuePair = queuePair;
    this.operations = operations;
    this.readsOutlive = readsOutlive;
    this.startedNs = core.nanoTime.getAsLong();
    this.lookedNs = startedNs;
    int requests = operations + CONTROLS;
    // One more than requests are out: while a response is handled its receive is not posted, and a
    // request may be sent.
    this.outstandingMax = Math.min(requests, Protocol.REQUESTS_MAX);
    this.receives = outstandingMax + 1;
    this.requestIds = new long[requests];
    this.messages = new long[requests];
    this.requestTypes = new int[requests];
    this.controlHeads = new int[CONTROLS];
    this.controlAsked = new int[CONTROLS];
    this.memory = Arena.ofAuto().allocate(receiveAt(receives), 64);
    this.region = core.registerLocal(memory);
    for (int i = 0; i < receives; i++) {
      postReceive(i);
    }
  }

  static long workId(long serial, int slot) {
    return serial << SLOT_BITS | slot;
  }

  /** Where the request of an operation is built. */
  long requestAt(int slot) {
    return (long) slot * REQUEST_BYTES;
  }

  private long controlAt(int control) {
    return (long) operations * REQUEST_BYTES + (long) control * CONTROL_BYTES;
  }

  private long receiveAt(int receive) {
    return controlAt(CONTROLS) + (long) receive * Protocol.MESSAGE_BYTES_MAX;
  }

  boolean ready() {
    return phase == READY;
  }

  /** Whether READs may be posted. */
  boolean readable() {
    return phase == READY || (phase == LOST && readsOutlive && isStoreThere());
  }

  /** A store that nobody serves may be deleted, or replaced: its memory would be read for ever. */
  private boolean isStoreThere() {
    long now = core.nanoTime.getAsLong();
    if (now - lookedNs >= LOOK_NS) {
      lookedNs = now;
      if (!queuePair.isCurrent(rootKey)) {
        fail("the store at " + core.address + " was deleted or replaced");
        return false;
      }
    }
    return true;
  }

  boolean failed() {
    return phase >= LEAVING;
  }

  /** Whether anything can still complete that is worth to wait for. */
  boolean waitable() {
    return phase <= READY || phase == LEAVING;
  }

  /** Why the connection ended, in words. */
  String reason() {
    return reason;
  }

  /** Why it was never made; null for a connection that was made. */
  ErdaException failure() {
    return failure;
  }

  /**
   * Whether its end is to be told to the operations now: it ended, and what becomes of their
   * requests is known, or was waited for long enough. Said once.
   */
  boolean takeUnsettled() {
    if (!unsettled) {
      return false;
    }
    withdraw();
    if (withdrawal.mayHearMore(phase < FAILED && !disconnected)) {
      core.attention = true;
      return false;
    }
    unsettled = false;
    return true;
  }

  /** Takes back what the server has not taken. */
  private void withdraw() {
    if (withdrawal == null) {
      withdrawal = new Withdrawal(this, core.nanoTime);
    }
  }

  /** The last message that the server may have taken and did not answer; 0 when there is none. */
  long newestTaken() {
    long newest = 0;
    for (Operation each : core.operations) {
      if (each.session == this && each.published() && !neverTaken(each.slot)) {
        newest = Math.max(newest, messages[each.slot]);
      }
    }
    return newest;
  }

  /** Whether the server provably never takes the request of a slot. REQUIRES: the session ended. */
  boolean neverTaken(int slot) {
    return withdrawal.neverTaken(messages[slot]);
  }

  /** What is to be said of the request of a slot, which the server may have taken. */
  ErdaException.OutcomeUnknown unknown(int slot, String what) {
    boolean last = withdrawal.isSettled(messages[slot]);
    return new ErdaException.OutcomeUnknown(
        what
            + " was sent when the connection ended: "
            + reason
            + (last
                ? "; it took effect or never will"
                : "; the server had begun with it, and it may still take effect"),
        last);
  }

  /** Gives the connection up, and what was sent over it as far as the server did not take it. */
  void leave(String why) {
    if (phase == READY || phase == LOST) {
      phase = LEAVING;
      reason = why;
      unsettled = true;
      core.attention = true;
      withdraw();
    } else if (phase < READY) {
      fail(why);
    }
  }

  int poll() {
    try {
      int done = queuePair.poll(this, POLL_LIMIT);
      faults.surface();
      return done;
    } catch (InternalError e) {
      failAfter(e);
      return 1;
    }
  }

  /** As {@link QueuePair#arm}. */
  boolean arm() {
    try {
      boolean armed = queuePair.arm();
      faults.surface();
      return armed;
    } catch (InternalError e) {
      failAfter(e);
      return false;
    }
  }

  /**
   * Somebody shortened the file that both ends of the connection map, or this was cut short by a
   * fault in memory of the caller's: in either case nobody knows what was done and what was not.
   *
   * @throws InternalError when the memory was the caller's
   */
  private void failAfter(InternalError e) {
    boolean ours = queuePair.isMemoryLost();
    fail(
        ours
            ? "the file of the connection, below " + core.address + ", was shortened"
            : "its work was cut short by " + e);
    if (!ours) {
      throw e;
    }
  }

  /** Marks the connection as good for nothing. */
  void fail(String why) {
    failWith(
        phase < READY
            ? new ErdaException.Unavailable("no connection to " + core.address + ": " + why)
            : null,
        why);
  }

  private void failWith(ErdaException whyNever, String why) {
    if (phase < FAILED) {
      if (phase >= READY) {
        withdraw();
      }
      phase = FAILED;
      failure = whyNever;
      reason = why;
      unsettled = true;
      core.attention = true;
    }
  }

  private void lose(String why) {
    if (phase == LEAVING) {
      return;
    }
    if (phase == READY && readsOutlive) {
      phase = LOST;
      reason = why;
      unsettled = true;
      core.attention = true;
    } else if (phase != LOST) {
      fail(why);
    }
  }

  void defer() {
    core.attention = true;
  }

  /** Posts what was refused before. Returns whether something remains. */
  boolean retryDeferred() {
    if (phase != READY && phase != MAPPING) {
      return false;
    }
    for (long left = unpostedReceives; left != 0; left &= left - 1) {
      postReceive(Long.numberOfTrailingZeros(left));
    }
    boolean mapRemains = mapFetch.retryDeferred();
    boolean remains = leases != null && leases.retryDeferred();
    return remains || mapRemains || unpostedReceives != 0;
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    if (opcode == Opcode.READ && status == Status.SUCCESS) {
      core.gets[(int) wrId & SLOT_MASK].onRead(wrId >>> SLOT_BITS);
    } else if (phase >= FAILED) {
      // It counts for nothing any more.
      return;
    } else if (opcode == Opcode.RECEIVE && status == Status.SUCCESS) {
      onReceive((int) wrId, byteLength);
    } else {
      onOther(wrId, opcode, status);
    }
  }

  private void onOther(long wrId, int opcode, int status) {
    switch (opcode) {
      case Opcode.CONNECT -> onConnect(status);
      case Opcode.DISCONNECT -> {
        lose("the server at " + core.address + " is gone");
        disconnected = true;
      }
      case Opcode.READ ->
          core.gets[(int) wrId & SLOT_MASK].onReadFailed(wrId >>> SLOT_BITS, status);
      case Opcode.WRITE -> {
        if (status == Status.REMOTE_ACCESS
            || status == Status.DENIED
            || status == Status.UNTRUSTED
            || status == Status.MEMORY_LOST) {
          core.put((int) wrId & SLOT_MASK).onWriteFailed(wrId >>> SLOT_BITS, status);
        } else if (status != Status.SUCCESS) {
          onBroken("a WRITE", status);
        }
      }
      case Opcode.SEND, Opcode.RECEIVE, Opcode.RECEIVE_IMM -> {
        if (status != Status.SUCCESS || opcode == Opcode.RECEIVE_IMM) {
          onBroken(opcode == Opcode.SEND ? "a SEND" : "a RECEIVE", status);
        }
      }
      default -> fail("a completion of opcode " + opcode + ", " + Status.name(status));
    }
  }

  private void onBroken(String what, int status) {
    if (status == Status.FLUSHED || status == Status.FENCED) {
      // The server left, or wants nothing more from here. Whether READs go on shows when one is
      // posted.
      lose(
          "the connection to the server at "
              + core.address
              + " ended ("
              + what
              + ": "
              + Status.name(status)
              + ")");
    } else {
      fail(what + " ended with: " + Status.name(status));
    }
  }

  // Connecting.

  private void onConnect(int status) {
    if (phase != CONNECTING) {
      fail("connected twice");
      return;
    }
    switch (status) {
      case Status.SUCCESS -> onWelcome(queuePair.privateData());
      case Status.REJECTED -> onRefusal(queuePair.privateData());
      case Status.UNREACHABLE -> fail("no server is there");
      case Status.TIMEOUT ->
          fail("no answer within " + core.options.connectTimeout().toMillis() + " ms");
      case Status.DENIED, Status.UNTRUSTED, Status.TAKEN, Status.SECRET, Status.INCOMPATIBLE -> {
        // Waiting changes none of them.
        String text = "no connection to " + core.address + ": " + why(status);
        failWith(new ErdaException.Refused(text), text);
      }
      case Status.NO_SPACE -> {
        String text = "no connection to " + core.address + ": " + Status.name(status);
        failWith(new ErdaException.Full(ErdaException.Full.What.DISK, text), text);
      }
      default -> fail(Status.name(status));
    }
  }

  private static String why(int status) {
    return switch (status) {
      case Status.DENIED ->
          "permission denied: this user may not use the store, or its server may not use what this"
              + " user makes there (./erda server --group, --mode)";
      case Status.TAKEN -> "the store is " + Status.name(status);
      default -> Status.name(status);
    };
  }

  private void onRefusal(MemorySegment data) {
    Refusal refusal = Handshake.decodeRefusal(data);
    String text =
        refusal == null
            ? "the connection was refused with "
                + data.byteSize()
                + " bytes that are no refusal of Erda's"
            : refusal.text();
    ErdaException why =
        refusal != null && refusal.reason() == Refusal.CONNECTIONS
            ? new ErdaException.Full(ErdaException.Full.What.CONNECTIONS, text)
            : new ErdaException.Refused(text);
    failWith(why, text);
  }

  private void onWelcome(MemorySegment data) {
    Welcome said = Handshake.decodeWelcome(data);
    String wrong =
        said == null
            ? "no welcome of protocol version "
                + Protocol.VERSION
                + ", layout version "
                + Protocol.LAYOUT_VERSION
                + ", in "
                + data.byteSize()
                + " bytes"
            : wrong(said);
    if (wrong != null) {
      failWith(
          new ErdaException.Refused("the server at " + core.address + " sent " + wrong), wrong);
      return;
    }
    welcome = said;
    heads = said.heads();
    rootKey = said.rootKey();
    regionBytes = said.regionBytes();
    regionShift = Long.numberOfTrailingZeros(regionBytes);
    segmentBytes = said.segmentBytes();
    regionsPerHeadMax = (int) Math.min(REGIONS_MAX, HEAD_BYTES_MAX / regionBytes);
    leases = new Leases(this, heads);
    phase = MAPPING;
    refreshMap();
  }

  /** What of a welcome can't be, or does not fit this client; null when it is sound. */
  private String wrong(Welcome said) {
    if (said.store() == null
        || said.incarnation() == 0
        || said.rootKey() == 0
        || said.clientId() == 0) {
      return "a welcome with a zero store, incarnation, root key or client ID: " + said;
    }
    boolean geometry =
        Long.bitCount(said.regionBytes()) == 1
            && said.regionBytes() >= 1 << 16
            && said.regionBytes() <= 1L << 30
            && Integer.bitCount(said.segmentBytes()) == 1
            && said.segmentBytes() >= 4096
            && said.segmentBytes() <= Math.min(16 << 20, said.regionBytes());
    if (!geometry) {
      return "a geometry that can't be: regions of "
          + said.regionBytes()
          + " bytes, segments of "
          + said.segmentBytes();
    }
    if (said.heads() < 1 || said.heads() > 256) {
      return "a geometry that can't be: " + said.heads() + " heads, expected 1 to 256";
    }
    boolean limits =
        said.keyBytesMax() >= 1
            && said.keyBytesMax() <= Protocol.KEY_BYTES_MAX
            && said.valueBytesMax() >= 0
            && said.valueBytesMax() < said.segmentBytes();
    if (!limits) {
      return "limits that can't be: keys of "
          + said.keyBytesMax()
          + " bytes, values of "
          + said.valueBytesMax();
    }
    if (said.messageBytesMax() < REQUEST_BYTES) {
      return "a limit of "
          + said.messageBytesMax()
          + " bytes a message, expected at least "
          + REQUEST_BYTES;
    }
    if (said.putMode() != 0) {
      return "put mode " + said.putMode() + "; this client knows 0, publish last";
    }
    Promise required = core.options.required();
    if (required != null && said.promise().compareTo(required) < 0) {
      return "the promise " + said.promise() + "; this client requires " + required;
    }
    if (core.store != null && !core.store.equals(said.store())) {
      return "another store: " + said.store() + ", was " + core.store;
    }
    return null;
  }

  // Requests and responses.

  /**
   * Sends the request that was built at {@code base}. Returns false when it has to be sent later.
   */
  boolean send(int slot, long base, int type, int length) {
    if (outstanding >= outstandingMax) {
      return false;
    }
    long id = ++requestSerial << SLOT_BITS | slot;
    Message.putHeader(
        memory, base, type, 0, length, id, welcome.clientId(), welcome.connectionEpoch());
    try {
      if (!queuePair.postSend(id, region, base, length, Flags.NONE)) {
        return false;
      }
      faults.surface();
    } catch (InternalError e) {
      // It may have been sent.
      failAfter(e);
    }
    requestIds[slot] = id;
    requestTypes[slot] = type;
    messages[slot] = queuePair.sent();
    outstanding++;
    return true;
  }

  private boolean sendControl(int control, int type, int length) {
    return control >= 0 && send(operations + control, controlAt(control), type, length);
  }

  private int freeControl() {
    for (int i = 0; i < CONTROLS; i++) {
      if (requestTypes[operations + i] == 0) {
        return i;
      }
    }
    return -1;
  }

  boolean sendLease(int head, int bytesMin) {
    int control = freeControl();
    if (control < 0) {
      return false;
    }
    long base = controlAt(control);
    Message.putInt(memory, base + Message.LEASE_HEAD, head);
    Message.putInt(memory, base + Message.LEASE_BYTES_MIN, bytesMin);
    controlHeads[control] = head;
    controlAsked[control] = bytesMin;
    return sendControl(control, Message.LEASE, Message.LEASE_REQUEST_BYTES);
  }

  /**
   * Ends an extent early. When it can't be sent now it is not sent: the server ends idle extents by
   * itself.
   */
  void sendEnd(int head, long reservation) {
    int control = freeControl();
    if (control >= 0) {
      Message.putLong(memory, controlAt(control) + Message.END_RESERVATION, reservation);
      controlHeads[control] = head;
      sendControl(control, Message.END, Message.END_REQUEST_BYTES);
    }
  }

  /**
   * Tells the server that nothing is used here any more that the map does not name. When it can't
   * be sent now it is not sent: the server waits a bounded time only.
   */
  private void sendLeft() {
    int control = freeControl();
    if (control >= 0) {
      Message.putLong(memory, controlAt(control) + Message.LEFT_EPOCH, map.epoch);
      sendControl(control, Message.LEFT, Message.LEFT_REQUEST_BYTES);
    }
  }

  private void postReceive(int receive) {
    if (queuePair.postReceive(receive, region, receiveAt(receive), Protocol.MESSAGE_BYTES_MAX)) {
      unpostedReceives &= ~(1L << receive);
    } else {
      unpostedReceives |= 1L << receive;
      defer();
    }
  }

  private void onReceive(int receive, int byteLength) {
    // What came out of shared memory: a fault comes to light before it is believed.
    faults.surface();
    long base = receiveAt(receive);
    if (byteLength > Protocol.MESSAGE_BYTES_MAX || !Message.wellFormed(memory, base, byteLength)) {
      fail(
          "the server sent a message of "
              + byteLength
              + " bytes whose length field does not agree");
      return;
    }
    long id = Message.requestId(memory, base);
    int type = Message.type(memory, base);
    int slot = (int) id & SLOT_MASK;
    if (slot >= requestIds.length
        || requestTypes[slot] == 0
        || requestIds[slot] != id
        || requestTypes[slot] != type) {
      fail(
          "the server sent a response of type "
              + type
              + " to request "
              + id
              + ", which is not out");
      return;
    }
    if (Message.clientId(memory, base) != welcome.clientId()
        || Message.connectionEpoch(memory, base) != welcome.connectionEpoch()) {
      fail(
          "the server sent a message for client "
              + Message.clientId(memory, base)
              + ", connection "
              + Message.connectionEpoch(memory, base)
              + "; this is client "
              + welcome.clientId()
              + ", connection "
              + welcome.connectionEpoch());
      return;
    }
    int result = Message.result(memory, base);
    core.reason = Result.saysWhy(result) ? Message.reason(memory, base, byteLength) : "";
    if (result == Result.OK && byteLength < responseBytesMin(type)) {
      fail(
          "the server sent a response of type "
              + type
              + " of "
              + byteLength
              + " bytes, expected "
              + responseBytesMin(type));
      return;
    }
    requestTypes[slot] = 0;
    outstanding--;
    if (slot < operations) {
      core.operations[slot].onResponse(type, result, memory, base, byteLength);
    } else {
      onControl(slot - operations, type, result, base, byteLength);
    }
    postReceive(receive);
  }

  private static int responseBytesMin(int type) {
    return switch (type) {
      case Message.LEASE -> Message.LEASE_RESPONSE_BYTES;
      case Message.PUBLISH -> Message.PUBLISH_RESPONSE_BYTES;
      case Message.ERASE -> Message.ERASE_RESPONSE_BYTES;
      case Message.MAP -> Message.MAPPED_RECORDS;
      case Message.STATS -> Message.STATS_FIGURES_AT;
      default -> Message.HEADER_BYTES;
    };
  }

  private void onControl(int control, int type, int result, long base, int byteLength) {
    switch (type) {
      case Message.LEASE ->
          leases.onResponse(controlHeads[control], controlAsked[control], result, memory, base);
      case Message.MAP -> onMapPage(controlAsked[control], result, base, byteLength);
      default -> {
        // END: whether the server still knew the extent makes no difference. LEFT: nor what it
        // says.
      }
    }
  }

  // The region map.

  /** Fetches the map, unless that is under way. Returns false when there is no server to ask. */
  boolean refreshMap() {
    if (phase != READY && phase != MAPPING) {
      return false;
    }
    mapFetch.begin();
    return true;
  }

  /** Asks for a page of the map, of the regions from {@code from} on. */
  boolean sendMap(int page, int from) {
    int control = freeControl();
    if (control < 0) {
      return false;
    }
    long base = controlAt(control);
    Message.putInt(memory, base + Message.MAP_FROM, from);
    Message.putInt(memory, base + Message.MAP_FROM + 4, 0);
    controlAsked[control] = page;
    return sendControl(control, Message.MAP, Message.MAP_REQUEST_BYTES);
  }

  private void onMapPage(int page, int result, long base, int byteLength) {
    if (result != Result.OK) {
      fail("the server sent the result " + Result.name(result) + " when asked for the map");
      return;
    }
    RegionMap complete = mapFetch.onPage(page, memory, base, byteLength);
    if (complete != null) {
      publishMap(complete);
    }
  }

  private void publishMap(RegionMap complete) {
    RegionMap old = map;
    map = complete;
    core.mapRefreshes++;
    leases.onMap();
    if (old != null && old.forgetMissing(map, queuePair)) {
      sendLeft();
    }
    if (phase == MAPPING) {
      phase = READY;
      core.attention = true;
    }
    core.mapArrived(this);
  }

  /** Ends the connection, because there is another one. What was answered counts. */
  void replace() {
    if (phase == LEAVING) {
      poll();
    }
    close();
  }

  /** Ends the connection and releases what it holds. Idempotent. Not from within a completion. */
  void close() {
    if (phase != CLOSED) {
      if (reason.isEmpty()) {
        reason = "it was closed";
      }
      if (phase >= READY) {
        withdraw();
      }
      phase = CLOSED;
      queuePair.close();
      core.device.deregister(region);
    }
  }
}
