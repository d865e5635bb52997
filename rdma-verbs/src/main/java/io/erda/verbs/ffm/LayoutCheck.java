package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.MEMORY;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.util.LinkedList;
import java.util.List;

/**
 * Tries the structs that can't be checked by a pointer in them. A receive on a queue pair that is
 * put into error must complete as flushed, with its number, and so must a FLUSH and an ATOMIC_WRITE
 * if the device has them. A missing completion proves nothing, because devices differ, but each
 * completion must be right.
 */
final class LayoutCheck {
  static final int FLUSHED = 5;
  static final long WR_ID = 0x4552_4441_0102_0304L;
  private static final int TO_INIT_MASK = 1 | 1 << 3 | 1 << 4 | 1 << 5;
  private static final int TO_ERROR_MASK = 1;
  private static final byte FIRST_PORT = 1;
  private static final int TRIES = 200;

  private final FfmVerbs verbs;
  private final Libibverbs library;
  private final IbvQP qp;
  private final long pointer;

  private LayoutCheck(FfmVerbs verbs, Libibverbs library, IbvQP qp) {
    this.verbs = verbs;
    this.library = library;
    this.qp = qp;
    this.pointer = ((Pointers.Qp) qp).pointer;
  }

  /**
   * Makes queue pairs, tries them and destroys them. Takes some milliseconds.
   *
   * @return the abilities of queue pairs that DiSNI lacks
   * @throws IOException when rdma-core has a layout that is not known here
   */
  static Offered run(
      FfmVerbs verbs, Libibverbs library, IbvContext context, IbvPd pd, IbvCompChannel channel)
      throws IOException {
    IbvCQ cq = verbs.createCQ(context, channel, 8, 0);
    try {
      run(verbs, library, pd, cq, Offered.NOTHING);
      Offered offered = verbs.saidToBeOffered(context);
      return tried(verbs, library, pd, cq, offered)
          ? offered
          : tried(verbs, library, pd, cq, offered.withoutFlush())
              ? offered.withoutFlush()
              : Offered.NOTHING;
    } finally {
      verbs.destroyCQ(cq);
    }
  }

  /** Rdma-core may lack an ability that the kernel has. Then it makes no such queue pair. */
  private static boolean tried(FfmVerbs verbs, Libibverbs library, IbvPd pd, IbvCQ cq, Offered with)
      throws IOException {
    if (with.operations() == 0) {
      return false;
    }
    try {
      run(verbs, library, pd, cq, with);
      return true;
    } catch (VerbsException e) {
      return false;
    }
  }

  private static void run(FfmVerbs verbs, Libibverbs library, IbvPd pd, IbvCQ cq, Offered with)
      throws IOException {
    IbvQP qp = verbs.createQp(pd, attributes(cq), with);
    try {
      LayoutCheck check = new LayoutCheck(verbs, library, qp);
      check.flush(cq);
      check.flush(cq, verbs.extended(qp, with), with);
    } finally {
      verbs.destroyQp(qp);
    }
  }

  private static IbvQPInitAttr attributes(IbvCQ cq) {
    IbvQPInitAttr attributes = new IbvQPInitAttr();
    attributes.cap().setMax_send_wr(2);
    attributes.cap().setMax_recv_wr(1);
    attributes.cap().setMax_send_sge(1);
    attributes.cap().setMax_recv_sge(1);
    attributes.setQp_type(IbvQP.IBV_QPT_RC);
    attributes.setSend_cq(cq);
    attributes.setRecv_cq(cq);
    return attributes;
  }

  private void flush(IbvCQ cq) throws IOException {
    Foreign.requireLayout("ibv_qp", MEMORY.get(INT, pointer + Structs.Qp.TYPE) == IbvQP.IBV_QPT_RC);
    toState(IbvQP.IBV_QPS_INIT, TO_INIT_MASK);
    verbs.postRecv(qp, List.of(receive()), null).execute();
    toState(IbvQP.IBV_QPS_ERR, TO_ERROR_MASK);
    requireFlushed((Pointers.Cq) cq, qp.getQp_num());
  }

  /** Posts work to a queue pair in error. The work completes as the receive did. */
  private void flush(IbvCQ cq, PostExtended post, Offered with) throws IOException {
    if (with.flushes()) {
      post.flush(WR_ID, IbvSendWR.IBV_SEND_SIGNALED, 0, 0, 8, Offered.FLUSH_GLOBAL);
      requireFlushed((Pointers.Cq) cq, qp.getQp_num());
    }
    if (with.writesWords()) {
      post.atomicWrite(WR_ID, IbvSendWR.IBV_SEND_SIGNALED, 0, 0, 0);
      requireFlushed((Pointers.Cq) cq, qp.getQp_num());
    }
  }

  /** Requires the next completion to be the flushed receive of a queue pair with this number. */
  static void requireFlushed(Pointers.Cq cq, int number) throws IOException {
    IbvWC[] completions = {new IbvWC()};
    PollCq poll = new PollCq(cq, completions, 1);
    for (int i = 0; i < TRIES; i++) {
      if (poll.execute().getPolls() > 0) {
        IbvWC got = completions[0];
        Foreign.requireLayout(
            "ibv_wc or ibv_recv_wr",
            got.getWr_id() == WR_ID && got.getStatus() == FLUSHED && got.getQp_num() == number);
        return;
      }
      Libc.poll(0, 0, 1);
    }
  }

  private void toState(int state, int mask) throws IOException {
    long attributes = Pointers.Scratch.zeroed();
    MEMORY.set(INT, attributes + Structs.QpAttr.STATE, state);
    MEMORY.set(Foreign.BYTE, attributes + Structs.QpAttr.PORT_NUM, FIRST_PORT);
    library.modifyQp(pointer, attributes, mask);
    Foreign.requireLayout(
        "ibv_qp or ibv_qp_attr", MEMORY.get(INT, pointer + Structs.Qp.STATE) == state);
  }

  @SuppressWarnings("JdkObsolete") // DiSNI requires this kind of list.
  private static IbvRecvWR receive() {
    IbvRecvWR receive = new IbvRecvWR();
    receive.setWr_id(WR_ID);
    receive.setSg_list(new LinkedList<IbvSge>());
    return receive;
  }
}
