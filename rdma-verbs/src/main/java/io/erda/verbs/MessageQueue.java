package io.erda.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.RdmaCmId;
import io.erda.verbs.ffm.PostRecv;
import io.erda.verbs.ffm.PostSend;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedList;
import java.util.List;

/**
 * The hardware queue pair for messages, with their buffers. Every message, also one of the device
 * itself, takes a slot for sending and a slot for receiving, so that a receive is always posted. Of
 * the {@value #SLOTS} slots at each end {@value #CREDITS} are for messages of the caller; a message
 * occupies its slot until the receiver reports that it has consumed the message.
 */
final class MessageQueue {
  static final int SLOTS = 320;
  static final int CREDITS = 288;
  static final int MESSAGE_BYTES_MAX = 4096;
  static final int SLOT_BYTES = Header.BYTES + MESSAGE_BYTES_MAX;
  static final long BUFFER_BYTES = 2L * SLOTS * SLOT_BYTES + 8L * Works.CAPACITY;
  private static final long RECEIVED_AT = (long) SLOTS * SLOT_BYTES;

  /** The slots that are reserved for messages of the device itself. */
  private static final int RESERVE = SLOTS - CREDITS;

  private static final byte[] NOTHING = new byte[0];

  static {
    assert RESERVE > 0 && SLOTS <= Receives.CAPACITY : "every slot may wait for a receive";
    assert SLOT_BYTES % Long.BYTES == 0 && wordAt(Works.CAPACITY - 1) + Long.BYTES == BUFFER_BYTES
        : "slots, then a word for each work, fill the buffer";
  }

  final VerbsRegion buffer;
  private final Accounts accounts;
  private final MemorySegment memory;
  private final IbvQP queuePair;
  private final PostSend send;
  private final PostSend.Request request;
  private final PostRecv receive;
  private final int[] free = new int[SLOTS];
  private int freeCount = SLOTS;

  /** By slot: the work of the message that was sent; -1 for a message of the device itself. */
  private final long[] works = new long[SLOTS];

  MessageQueue(RdmaCmId id, Hca hca, IbvCQ cq, VerbsRegion buffer, Accounts accounts)
      throws IOException {
    this.buffer = buffer;
    this.accounts = accounts;
    this.memory = buffer.memory();
    this.queuePair = id.createQP(hca.pd(), attributes(cq, SLOTS, SLOTS));
    for (int i = 0; i < SLOTS; i++) {
      free[i] = i;
    }
    IbvSge sge = new IbvSge();
    sge.setLkey(buffer.lkey);
    sge.setLength(SLOT_BYTES);
    IbvSendWR sending = new IbvSendWR();
    sending.setOpcode(IbvSendWR.IBV_WR_SEND);
    sending.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
    sending.setSg_list(piece(sge));
    send = (PostSend) queuePair.postSend(List.of(sending), null);
    request = send.getWrMod(0);
    IbvRecvWR receiving = new IbvRecvWR();
    receiving.setSg_list(piece(sge));
    receive = (PostRecv) queuePair.postRecv(List.of(receiving), null);
    for (int slot = 0; slot < SLOTS; slot++) {
      postReceive(slot);
    }
  }

  /** DiSNI requires this kind of list. */
  @SuppressWarnings("JdkObsolete")
  static LinkedList<IbvSge> piece(IbvSge piece) {
    return new LinkedList<>(List.of(piece));
  }

  static IbvQPInitAttr attributes(IbvCQ cq, int sends, int receives) {
    IbvQPInitAttr attributes = new IbvQPInitAttr();
    attributes.cap().setMax_send_wr(sends);
    attributes.cap().setMax_recv_wr(receives);
    attributes.cap().setMax_send_sge(1);
    attributes.cap().setMax_recv_sge(1);
    attributes.setQp_type(IbvQP.IBV_QPT_RC);
    attributes.setSend_cq(cq);
    attributes.setRecv_cq(cq);
    return attributes;
  }

  boolean hasSlot() {
    return freeCount > RESERVE;
  }

  /** Takes a slot for sending a message of the caller. REQUIRES: {@link #hasSlot}. */
  int take() {
    assert freeCount > 0 : "no slot is free";
    return free[--freeCount];
  }

  void give(int slot) {
    assert freeCount < SLOTS && slot >= 0 && slot < SLOTS : "slot " + slot + " is given back twice";
    free[freeCount++] = slot;
  }

  /** The buffer of all slots. */
  MemorySegment memory() {
    return memory;
  }

  static long sentAt(int slot) {
    return (long) slot * SLOT_BYTES;
  }

  static long receivedAt(int slot) {
    return RECEIVED_AT + (long) slot * SLOT_BYTES;
  }

  /** Returns the offset of the 8 bytes that are reserved for each work. */
  static long wordAt(long work) {
    return 2 * RECEIVED_AT + 8L * Works.at(work);
  }

  /** Sends a message of the caller, which is in a slot. */
  void send(int slot, long work) throws IOException {
    long at = sentAt(slot);
    boolean payload = Header.kind(memory, at) == Header.MESSAGE;
    transmit(slot, payload ? Header.length(memory, at) : 0, work);
  }

  /** Sends a message of the device's own. */
  void say(int kind, long argument) throws IOException {
    say(kind, 0, argument, NOTHING);
  }

  /**
   * Sends a message of the device itself.
   *
   * @throws IOException when no slot is left because the peer does not take messages, which
   *     violates the protocol
   */
  void say(int kind, int imm, long argument, byte[] payload) throws IOException {
    if (freeCount == 0) {
      throw new IOException("the peer does not take what it is told");
    }
    int slot = take();
    long at = sentAt(slot);
    Header.set(memory, at, kind, payload.length, imm, argument);
    MemorySegment.copy(
        payload, 0, memory, ValueLayout.JAVA_BYTE, at + Header.BYTES, payload.length);
    transmit(slot, payload.length, -1);
  }

  private void transmit(int slot, int length, long work) throws IOException {
    accounts.tell(memory, sentAt(slot));
    works[slot] = work;
    request.setWr_id(Tags.SENT | slot);
    request.getSgeMod(0).setAddr(buffer.iova + sentAt(slot));
    request.getSgeMod(0).setLength(Header.BYTES + length);
    send.execute();
  }

  /** Notes that the message of a slot was sent. Returns its work. */
  long sent(int slot) {
    give(slot);
    return works[slot];
  }

  void postReceive(int slot) throws IOException {
    receive.getWrMod(0).setTarget(Tags.RECEIVED | slot, buffer.iova + receivedAt(slot));
    receive.execute();
  }
}
