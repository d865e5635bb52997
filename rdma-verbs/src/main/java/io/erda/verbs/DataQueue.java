package io.erda.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.RdmaCmId;
import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.verbs.ffm.FfmVerbs;
import io.erda.verbs.ffm.Offered;
import io.erda.verbs.ffm.PostExtended;
import io.erda.verbs.ffm.PostSend;
import java.io.IOException;
import java.util.List;

/**
 * The hardware queue pair for READs, WRITEs, FLUSHes and atomic operations. At the first request
 * that the peer's side refuses the hardware puts the queue pair into error, and flushes the later
 * requests, which were not executed. Then both ends reset the queue pair, and the flushed requests
 * are posted again. No message uses this queue pair, so no message is lost or sent twice.
 */
final class DataQueue {
  static final int REQUESTS = 256;
  private static final int PIECES_MAX = 3;
  private static final int PEER_MAY =
      IbvMr.IBV_ACCESS_REMOTE_READ | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_ATOMIC;
  private static final int SIGNALED = IbvSendWR.IBV_SEND_SIGNALED;
  private static final int PSN_MASK = 0xff_ffff;
  private static final int PSN_STEP = 0x1_0000;

  private enum State {
    WAITING,
    READY,
    BROKEN
  }

  private final FfmVerbs verbs;
  private final RdmaCmId way;
  private final IbvQP queuePair;
  private final PostSend read;
  private final PostSend write;
  private final PostSend swap;
  private final Offered offered;

  /** Posts FLUSH and ATOMIC_WRITE; null when the device has neither. */
  private final PostExtended extended;

  private State state = State.WAITING;
  private int psn;
  private int peer;
  private int outstanding;
  private int epoch;

  DataQueue(FfmVerbs verbs, RdmaCmId way, Hca hca, IbvCQ cq, int psn) throws IOException {
    this.verbs = verbs;
    this.way = way;
    this.psn = psn & PSN_MASK;
    this.offered = hca.offered();
    this.queuePair = verbs.createQp(hca.pd(), MessageQueue.attributes(cq, REQUESTS, 1), offered);
    try {
      this.read = prepare(IbvSendWR.IBV_WR_RDMA_READ);
      this.write = prepare(IbvSendWR.IBV_WR_RDMA_WRITE);
      this.swap = prepare(IbvSendWR.IBV_WR_ATOMIC_CMP_AND_SWP);
      this.extended = verbs.extended(queuePair, offered);
      verbs.toInit(queuePair, way, PEER_MAY | offered.access());
    } catch (IOException | RuntimeException | Error e) {
      verbs.destroyQp(queuePair);
      throw e;
    }
  }

  private PostSend prepare(int opcode) throws IOException {
    IbvSendWR request = new IbvSendWR();
    request.setOpcode(opcode);
    request.setSg_list(MessageQueue.piece(new IbvSge()));
    return (PostSend) queuePair.postSend(List.of(request), null);
  }

  /** Returns the numbers that the peer needs to connect its queue pair. */
  long greeting() throws IOException {
    return (long) psn << 32 | queuePair.getQp_num() & 0xffff_ffffL;
  }

  /** Connects to the peer's queue pair with this greeting. */
  void ready(long greeting) throws IOException {
    assert state == State.WAITING : state;
    peer = (int) greeting;
    verbs.toReady(queuePair, way, peer, (int) (greeting >>> 32) & PSN_MASK, psn);
    state = State.READY;
  }

  /**
   * Resets the queue pair; {@link #ready} connects it again. Outstanding requests never complete.
   */
  void renew() throws IOException {
    verbs.reset(queuePair);
    psn = psn + PSN_STEP & PSN_MASK;
    epoch = epoch + 1 & Tags.EPOCHS - 1;
    outstanding = 0;
    verbs.toInit(queuePair, way, PEER_MAY | offered.access());
    state = State.WAITING;
  }

  boolean isReady() {
    return state == State.READY && outstanding + PIECES_MAX <= REQUESTS;
  }

  boolean isWaiting() {
    return state == State.WAITING;
  }

  boolean isBroken() {
    return state == State.BROKEN;
  }

  int outstanding() {
    return outstanding;
  }

  /** Whether a completed request was posted after the queue pair was made or last reset. */
  boolean isCurrent(long tag) {
    return Tags.epoch(tag) == epoch;
  }

  void completed() {
    outstanding--;
    assert outstanding >= 0 : outstanding;
  }

  void broke() {
    assert state != State.WAITING : state;
    state = State.BROKEN;
  }

  void post(Works works, long work, long wordAddress, int wordLkey) throws IOException {
    assert isReady() : state + " with " + outstanding + " outstanding";
    int at = Works.at(work);
    switch (works.opcode(work)) {
      case Opcode.READ -> postRead(works, work);
      case Opcode.COMPARE_AND_SWAP -> {
        swap.getWrMod(0).setOperands(works.expected[at], works.value[at]);
        post(swap, works, work, works.localAddress[at], works.lkey[at], 0, 8, true);
      }
      case Opcode.ATOMIC_WRITE -> {
        if (offered.writesWords()) {
          long tag = Tags.data(work, true, epoch);
          outstanding++;
          extended.atomicWrite(
              tag,
              sendFlags(works, work),
              works.rkey[at],
              works.remoteAddress[at],
              works.value[at]);
        } else {
          post(write, works, work, wordAddress, wordLkey, 0, 8, true);
        }
      }
      case Opcode.FLUSH -> {
        long tag = Tags.data(work, true, epoch);
        int type = (int) works.value[at];
        outstanding++;
        extended.flush(
            tag,
            sendFlags(works, work),
            works.rkey[at],
            works.remoteAddress[at],
            works.length[at],
            type);
      }
      case Opcode.WRITE, Opcode.WRITE_IMM ->
          post(
              write,
              works,
              work,
              works.localAddress[at],
              works.lkey[at],
              0,
              works.length[at],
              true);
      default -> throw new IllegalArgumentException("data of opcode " + works.opcode(work));
    }
  }

  /**
   * Posts a READ. A READ whose ends are not 8-aligned is posted as up to three READs: devices copy
   * from the beginning of a READ, so with a separate READ the aligned middle is copied in whole
   * words, and no word is torn.
   */
  private void postRead(Works works, long work) throws IOException {
    int at = Works.at(work);
    long local = works.localAddress[at];
    int lkey = works.lkey[at];
    int length = works.length[at];
    int before = (int) (-works.remoteAddress[at] & 7);
    int whole = length - before & ~7;
    if (before == 0 && whole == length || whole <= 0) {
      post(read, works, work, local, lkey, 0, length, true);
      return;
    }
    int after = length - before - whole;
    if (before > 0) {
      post(read, works, work, local, lkey, 0, before, false);
    }
    post(read, works, work, local, lkey, before, whole, after == 0);
    if (after > 0) {
      post(read, works, work, local, lkey, before + whole, after, true);
    }
  }

  private void post(
      PostSend call,
      Works works,
      long work,
      long local,
      int lkey,
      int skip,
      int length,
      boolean last)
      throws IOException {
    int at = Works.at(work);
    PostSend.Request request = call.getWrMod(0);
    request.setWr_id(Tags.data(work, last, epoch));
    request.setSend_flags(sendFlags(works, work));
    request.setRemote_addr(works.remoteAddress[at] + skip);
    request.setRkey(works.rkey[at]);
    PostSend.Piece piece = request.getSgeMod(0);
    piece.setAddr(local + skip);
    piece.setLength(length);
    piece.setLkey(lkey);
    outstanding++;
    call.execute();
  }

  private static int sendFlags(Works works, long work) {
    boolean fence = (works.flags(work) & Flags.FENCE) != 0;
    return fence ? SIGNALED | IbvSendWR.IBV_SEND_FENCE : SIGNALED;
  }

  void destroy() throws IOException {
    verbs.destroyQp(queuePair);
  }
}
