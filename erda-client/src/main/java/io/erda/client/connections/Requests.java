package io.erda.client.connections;

import io.erda.pmem.MemoryGuard;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;

/**
 * The outstanding requests of one connection, and the memory of its messages.
 *
 * <p>Each operation has one request, which it builds in place. Requests that belong to the
 * connection itself, <em>control requests</em>, have the slots after those of the operations.
 *
 * <p>Memory: {@code one request per operation | control requests | receives}. No more requests are
 * outstanding than receives are posted, so a response always finds one.
 */
public final class Requests {
  /** The longest request: one that carries a key. */
  static final int REQUEST_BYTES = Message.ANNOUNCE_KEY + Protocol.KEY_BYTES_MAX + 8;

  private static final int CONTROLS = 16;
  private static final int CONTROL_BYTES = 64;
  private static final int NONE = -1;

  private static final MemoryGuard.Access<QueuePair, Work> POST =
      (queuePair, request, _, _, _, _) -> queuePair.post(request) ? 1 : 0;

  /** Holds requests while they are built, and responses while they are handled. */
  public final MemorySegment memory;

  private final QueuePair queuePair;
  private final SessionState state;
  private final Attention attention;
  private final RegisteredMemory registered;
  private final MemoryRegion region;
  private final Work request = Work.send();
  private final MemoryGuard faults = new MemoryGuard();
  private final int operations;
  private final int receives;
  private int outstandingMax;

  // The following arrays are indexed by slot; operations come first, then control requests.
  private final long[] ids;

  /** The device's number of each request's message. */
  private final long[] messages;

  /** The type of each slot's request; 0 when none is outstanding. */
  private final int[] types;

  /** The head of each slot's LEASE or END request. */
  private final int[] controlHeads;

  /** The bytes that each slot's LEASE requests, or the page that its MAP requests. */
  private final int[] controlAsked;

  private long serial;
  private int outstanding;

  /** Receives that could not be posted, as a bit set. */
  private long unpostedReceives;

  private int clientId;
  private int connectionEpoch;

  /**
   * The server's reason for refusing the request whose response is being handled; empty when it
   * gave none.
   */
  private String reason = "";

  /**
   * @param operations how many slots operations have
   */
  Requests(ClientContext context, QueuePair queuePair, SessionState state, int operations) {
    this.queuePair = queuePair;
    this.state = state;
    this.attention = context.attention();
    this.operations = operations;
    int slots = operations + CONTROLS;
    // The receives exceed the outstanding requests by one: while a response is handled its receive
    // is not posted, and a request may be sent.
    this.outstandingMax = Math.min(slots, Protocol.REQUESTS_MAX);
    this.receives = outstandingMax + 1;
    this.ids = new long[slots];
    this.messages = new long[slots];
    this.types = new int[slots];
    this.controlHeads = new int[CONTROLS];
    this.controlAsked = new int[CONTROLS];
    this.registered = new RegisteredMemory(context.device(), receiveAt(receives));
    this.memory = registered.segment;
    this.region = registered.region;
    for (int i = 0; i < receives; i++) {
      postReceive(i);
    }
  }

  /** Takes the server's welcome: from now on requests may be sent, and answers must match it. */
  void welcome(Welcome said) {
    clientId = said.clientId();
    connectionEpoch = said.connectionEpoch();
    if (said.requestsMax() > 0) {
      outstandingMax = Math.min(outstandingMax, said.requestsMax());
    }
  }

  /** Returns the offset in {@link #memory} at which the request of an operation is built. */
  public long at(int slot) {
    return (long) slot * REQUEST_BYTES;
  }

  private long controlAt(int control) {
    return (long) operations * REQUEST_BYTES + (long) control * CONTROL_BYTES;
  }

  /** Returns the offset in {@link #memory} of the response that came with a receive. */
  long receiveAt(int receive) {
    return controlAt(CONTROLS) + (long) receive * Protocol.MESSAGE_BYTES_MAX;
  }

  boolean isControl(int slot) {
    return slot >= operations;
  }

  /** The head of the LEASE whose response is in a slot. */
  int headOf(int slot) {
    return controlHeads[slot - operations];
  }

  /** The bytes that the LEASE in a slot asked for, or the page that the MAP asked for. */
  int askedIn(int slot) {
    return controlAsked[slot - operations];
  }

  /** The device's number of the message that an operation sent last. */
  public long message(int slot) {
    return messages[slot];
  }

  public String reason() {
    return reason;
  }

  // Sending.

  /**
   * Sends the request that was built {@link #at} a slot. Returns false when it can't be sent now.
   */
  public boolean send(int slot, int type, int length) {
    return send(slot, at(slot), type, length);
  }

  private boolean send(int slot, long base, int type, int length) {
    if (outstanding >= outstandingMax) {
      return false;
    }
    assert types[slot] == 0 : "the request before it in slot " + slot + " is not answered";
    long id = WorkId.of(++serial, slot);
    Message.putHeader(memory, base, type, 0, length, id, clientId, connectionEpoch);
    int posted =
        faults.access(POST, queuePair, request.id(id).local(region, base, length), 0, 0, 0, 0);
    if (posted == MemoryGuard.FAULT) {
      // It is unknown whether the request was sent.
      state.failAfter(faults.fault());
    } else if (posted == 0) {
      return false;
    }
    ids[slot] = id;
    types[slot] = type;
    messages[slot] = queuePair.claims().sent();
    outstanding++;
    return true;
  }

  private boolean sendControl(int control, int type, int length) {
    return send(operations + control, controlAt(control), type, length);
  }

  private int freeControl() {
    for (int i = 0; i < CONTROLS; i++) {
      if (types[operations + i] == 0) {
        return i;
      }
    }
    return NONE;
  }

  /** Asks for space in the log of a head. Returns false when it can't be sent now. */
  boolean sendLease(int head, int bytesMin) {
    int control = freeControl();
    if (control == NONE) {
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
   * Ends an extent early. A request that can't be sent now is dropped: the server ends idle extents
   * by itself.
   */
  void sendEnd(int head, long reservation) {
    int control = freeControl();
    if (control != NONE) {
      Message.putLong(memory, controlAt(control) + Message.END_RESERVATION, reservation);
      controlHeads[control] = head;
      sendControl(control, Message.END, Message.END_REQUEST_BYTES);
    }
  }

  /**
   * Tells the server that this client no longer uses any region that the map of an epoch does not
   * name. A message that can't be sent now is dropped, because the server waits only for a bounded
   * time.
   */
  void sendLeft(long epoch) {
    int control = freeControl();
    if (control != NONE) {
      Message.putLong(memory, controlAt(control) + Message.LEFT_EPOCH, epoch);
      sendControl(control, Message.LEFT, Message.LEFT_REQUEST_BYTES);
    }
  }

  /**
   * Tells the server that the object of a pending word was not whole. A message that can't be sent
   * now is dropped: another reader will report it.
   */
  void sendReport(long keyWord, int offset) {
    int control = freeControl();
    if (control != NONE) {
      long base = controlAt(control);
      Message.putLong(memory, base + Message.REPORT_KEY_WORD, keyWord);
      Message.putInt(memory, base + Message.REPORT_OFFSET, offset);
      Message.putInt(memory, base + Message.REPORT_OFFSET + 4, 0);
      sendControl(control, Message.REPORT, Message.REPORT_REQUEST_BYTES);
    }
  }

  /**
   * Asks for a page of the region map, of the regions from {@code from} on. Returns false when it
   * can't be sent now.
   */
  boolean sendMap(int page, int from) {
    int control = freeControl();
    if (control == NONE) {
      return false;
    }
    long base = controlAt(control);
    Message.putInt(memory, base + Message.MAP_FROM, from);
    Message.putInt(memory, base + Message.MAP_FROM + 4, 0);
    controlAsked[control] = page;
    return sendControl(control, Message.MAP, Message.MAP_REQUEST_BYTES);
  }

  // Receiving.

  void postReceive(int receive) {
    if (queuePair.postReceive(receive, region, receiveAt(receive), Protocol.MESSAGE_BYTES_MAX)) {
      unpostedReceives &= ~(1L << receive);
    } else {
      unpostedReceives |= 1L << receive;
      attention.ask();
    }
  }

  /** Posts the receives that were refused before. Returns whether some remain. */
  boolean retryReceives() {
    for (long left = unpostedReceives; left != 0; left &= left - 1) {
      postReceive(Long.numberOfTrailingZeros(left));
    }
    return unpostedReceives != 0;
  }

  /**
   * Takes a message that came. Returns the slot whose request it answers; the slot is free from now
   * on. Returns -1 when the message answers no request; then the connection was marked as failed.
   */
  int accept(int receive, int byteLength) {
    // The message was loaded from shared memory, so check for a fault before using it.
    faults.surface();
    long base = receiveAt(receive);
    if (byteLength > Protocol.MESSAGE_BYTES_MAX || !Message.wellFormed(memory, base, byteLength)) {
      return refuse("a message of " + byteLength + " bytes whose length field does not agree");
    }
    long id = Message.requestId(memory, base);
    int type = Message.type(memory, base);
    int slot = WorkId.slot(id);
    if (slot >= ids.length || types[slot] == 0 || ids[slot] != id || types[slot] != type) {
      return refuse("a response of type " + type + " to request " + id + ", which is not out");
    }
    if (Message.clientId(memory, base) != clientId
        || Message.connectionEpoch(memory, base) != connectionEpoch) {
      return refuse(
          "a message for client "
              + Message.clientId(memory, base)
              + ", connection "
              + Message.connectionEpoch(memory, base)
              + "; this is client "
              + clientId
              + ", connection "
              + connectionEpoch);
    }
    int result = Message.result(memory, base);
    reason = Result.saysWhy(result) ? Message.reason(memory, base, byteLength) : "";
    if (result == Result.OK && byteLength < responseBytesMin(type)) {
      return refuse(
          "a response of type "
              + type
              + " of "
              + byteLength
              + " bytes, expected "
              + responseBytesMin(type));
    }
    types[slot] = 0;
    outstanding--;
    return slot;
  }

  private int refuse(String what) {
    state.fail("the server sent " + what);
    return NONE;
  }

  private static int responseBytesMin(int type) {
    return switch (type) {
      case Message.LEASE -> Message.LEASE_RESPONSE_BYTES;
      case Message.PUBLISH -> Message.PUBLISH_RESPONSE_BYTES;
      case Message.ANNOUNCE -> Message.ANNOUNCE_RESPONSE_BYTES;
      case Message.ERASE -> Message.ERASE_RESPONSE_BYTES;
      case Message.MAP -> Message.MAPPED_RECORDS;
      case Message.STATS -> Message.STATS_FIGURES_AT;
      default -> Message.HEADER_BYTES;
    };
  }

  /** REQUIRES: the queue pair is closed. */
  void release() {
    registered.release();
  }
}
