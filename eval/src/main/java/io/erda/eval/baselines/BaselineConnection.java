package io.erda.eval.baselines;

import io.erda.logstore.ObjectChecksum;
import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One client, as the server sees it. A client has one request at a time, so there are more slots
 * than it needs; a client that sends more requests loses its connection. Owns its queue pair.
 */
final class BaselineConnection implements CompletionHandler, AutoCloseable {
  private static final int SLOTS = 4;
  private static final long RESPONSES = (long) SLOTS * BaselineMessage.BYTES_MAX;
  private static final int NOTHING = -1;

  final QueuePair queuePair;
  final ObjectChecksum checksum;

  /** The places of the log that it was given. */
  final List<Place> places = new ArrayList<>();

  /** The result of the put or delete under way. */
  int result;

  private final Device device;
  private final MemoryRegion log;
  private final int slotBytes;
  private final MemoryRegion memory;
  private final Work response = Work.send();
  private int slot = NOTHING;
  private int received;
  private int handled;
  private boolean gone;

  /** Bytes of a response that did not fit into the queue; 0 when there is none. */
  private int unsentBytes;

  private int unsentSlot;

  /**
   * @param log as this client accesses it; null when it does not
   */
  BaselineConnection(Device device, MemoryRegion log, QueuePair queuePair) {
    this.device = device;
    this.log = log;
    this.queuePair = queuePair;
    this.slotBytes = Math.min(BaselineMessage.BYTES_MAX, device.messageBytesMax());
    MemorySegment buffers = Arena.ofAuto().allocate(2 * RESPONSES, 64);
    this.memory = device.register(buffers, Backing.none(buffers.byteSize()), Access.LOCAL);
    this.checksum = new ObjectChecksum(buffers);
    for (int i = 0; i < SLOTS; i++) {
      postReceive(i);
    }
  }

  /** Receives messages. Returns how many; the request is at {@link #request}. */
  int poll() {
    handled = 0;
    if (unsentBytes > 0) {
      send(unsentSlot, unsentBytes);
    }
    if (unsentBytes == 0 && slot == NOTHING) {
      queuePair.poll(this, 1);
    }
    return handled;
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    handled++;
    if (opcode == Opcode.RECEIVE && status == Status.SUCCESS) {
      slot = (int) wrId;
      received = byteLength;
    } else {
      gone = true;
    }
  }

  MemoryRegion log() {
    return log;
  }

  boolean hasRequest() {
    return slot != NOTHING && !gone;
  }

  MemorySegment buffers() {
    return memory.memory();
  }

  /** The offset of the request. */
  long request() {
    return (long) slot * BaselineMessage.BYTES_MAX;
  }

  int received() {
    return received;
  }

  /** The offset for the response. */
  long response() {
    return RESPONSES + (long) slot * BaselineMessage.BYTES_MAX;
  }

  /** The longest response, bytes. */
  int responseBytesMax() {
    return slotBytes;
  }

  /** Answers the request. */
  void respond(int result, int bytes) {
    BaselineMessage.putHeader(
        buffers(),
        response(),
        BaselineMessage.type(buffers(), request()),
        result,
        BaselineMessage.id(buffers(), request()));
    int answered = slot;
    slot = NOTHING;
    postReceive(answered);
    send(answered, bytes);
  }

  /**
   * Sends a response. As the client has one request at a time, it is sent before its slot is used
   * again.
   */
  private void send(int of, int bytes) {
    long at = RESPONSES + (long) of * BaselineMessage.BYTES_MAX;
    boolean sent = queuePair.post(response.local(memory, at, bytes));
    unsentBytes = sent ? 0 : bytes;
    unsentSlot = of;
  }

  private void postReceive(int of) {
    long at = (long) of * BaselineMessage.BYTES_MAX;
    if (!queuePair.postReceive(of, memory, at, slotBytes)) {
      gone = true;
    }
  }

  boolean gone() {
    return gone;
  }

  void giveUp() {
    gone = true;
  }

  @Override
  public void close() {
    queuePair.close();
    device.deregister(memory);
  }
}
