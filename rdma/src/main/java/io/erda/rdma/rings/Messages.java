package io.erda.rdma.rings;

import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/** The messages of one end of a connection: the two rings, and the posted receive buffers. */
final class Messages {
  private final Ring.Producer out;
  private final Ring.Consumer in;
  private final ReceiveQueue receives;
  private long sent;
  private long received;

  Messages(MemorySegment queue, boolean requester, int receiveDepth) {
    this.receives = new ReceiveQueue(receiveDepth);
    long toResponder = QueueLayout.TO_RESPONDER_RING_OFFSET;
    long toRequester = QueueLayout.TO_REQUESTER_RING_OFFSET;
    long responderConsumed = QueueLayout.TO_RESPONDER_CONSUMED_OFFSET;
    long requesterConsumed = QueueLayout.TO_REQUESTER_CONSUMED_OFFSET;
    if (requester) {
      out = new Ring.Producer(queue, toResponder, responderConsumed);
      in = new Ring.Consumer(queue, toRequester, requesterConsumed);
    } else {
      out = new Ring.Producer(queue, toRequester, requesterConsumed);
      in = new Ring.Consumer(queue, toResponder, responderConsumed);
    }
  }

  /** Messages that were published. */
  long sent() {
    return sent;
  }

  /** Messages that were delivered. */
  long received() {
    return received;
  }

  // Sending.

  boolean hasRoom(int length) {
    return out.room(length) != Ring.EMPTY;
  }

  /** Publishes a message: see {@link Ring.Producer#offer}. */
  int offer(int type, int imm, MemorySegment source, long offset, int length) {
    int offered = out.offer(type, imm, source, offset, length);
    if (offered == Ring.FITS) {
      sent++;
    }
    return offered;
  }

  // Receiving.

  boolean addReceive(long wrId, LocalRegion to, long offset, int length) {
    return receives.add(wrId, to, offset, length);
  }

  boolean hasReceive() {
    return !receives.isEmpty();
  }

  /** Takes back the receive that was posted first. REQUIRES: {@link #hasReceive}. */
  long removeReceive() {
    long wrId = receives.wrId();
    receives.remove();
    return wrId;
  }

  /** How many bytes of the ring were consumed. */
  long position() {
    return in.position();
  }

  /** Whether a message has come and a buffer is posted for it. */
  boolean mayDeliver() {
    return !receives.isEmpty() && !in.isEmpty();
  }

  /**
   * Delivers the next message. REQUIRES: {@link #hasReceive}.
   *
   * @return {@link Ring#FITS} when a message was delivered, {@link Ring#EMPTY} when there is none,
   *     {@link Ring#FAULT} when the peer's record is invalid
   */
  long deliver(CompletionHandler handler) {
    long header = in.next();
    if (header == Ring.EMPTY || header == Ring.FAULT) {
      return header;
    }
    long wrId = receives.wrId();
    int opcode = Opcode.RECEIVE_IMM;
    int length;
    int status = Status.SUCCESS;
    if (Ring.type(header) == Ring.TYPE_SEND) {
      opcode = Opcode.RECEIVE;
      length = Ring.length(header);
      if (length > receives.length()) {
        status = Status.LENGTH;
      } else {
        in.copyTo(receives.region().memory, receives.offset(), length);
      }
    } else {
      length = in.writtenBytes();
    }
    in.consume(header);
    receives.remove();
    received++;
    handler.onCompletion(wrId, opcode, status, length, Ring.imm(header));
    return Ring.FITS;
  }
}
