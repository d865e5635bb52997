package io.erda.verbs.ffm;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** DiSNI's objects with the structs that they stand for. */
final class Pointers {
  static final class Context extends IbvContext {
    final long pointer;
    final Libibverbs.Operations operations;
    final Extension extension;

    Context(long pointer) throws IOException {
      super(
          Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Context.CMD_FD),
          Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Context.NUM_COMP_VECTORS));
      this.pointer = pointer;
      this.operations = new Libibverbs.Operations(pointer);
      this.extension = new Extension(pointer);
    }
  }

  static final class Pd extends IbvPd {
    final long pointer;

    Pd(IbvContext context, long pointer) throws IOException {
      super(context);
      this.pointer = pointer;
      requireOwner("ibv_pd", pointer + Structs.Owned.CONTEXT, context);
    }
  }

  static final class Mr extends IbvMr {
    final long pointer;

    /**
     * Takes one.
     *
     * @param address its address in requests
     * @param memory its address in this process
     */
    Mr(IbvContext context, long pointer, long address, long memory, long length, int access)
        throws IOException {
      super(
          context,
          address,
          (int) Math.min(length, Integer.MAX_VALUE),
          access,
          Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Mr.LKEY),
          Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Mr.RKEY),
          0);
      this.pointer = pointer;
      requireOwner("ibv_mr", pointer + Structs.Mr.CONTEXT, context);
      Foreign.requireLayout(
          "ibv_mr",
          at(pointer + Structs.Mr.ADDR) == memory && at(pointer + Structs.Mr.LENGTH) == length);
    }
  }

  static final class CompChannel extends IbvCompChannel {
    final long pointer;

    CompChannel(long pointer, IbvContext context) throws IOException {
      super(Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Channel.COMP_FD), context);
      this.pointer = pointer;
      requireOwner("ibv_comp_channel", pointer + Structs.Channel.COMP_CONTEXT, context);
    }
  }

  static final class Cq extends IbvCQ {
    final long pointer;

    Cq(IbvContext context, IbvCompChannel channel, long pointer, int entries) throws IOException {
      super(context, channel, 0);
      this.pointer = pointer;
      requireOwner("ibv_cq", pointer + Structs.Owned.CONTEXT, context);
      this.cqe = entries;
    }
  }

  static final class Qp extends IbvQP {
    final long pointer;

    Qp(long pointer, IbvPd pd, IbvCQ sendCq, IbvCQ recvCq) throws IOException {
      super(Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Qp.QP_NUM));
      this.pointer = pointer;
      this.context = pd.getContext();
      this.pd = pd;
      this.send_cq = sendCq;
      this.recv_cq = recvCq;
      this.qp_type = IBV_QPT_RC;
      requireOwner("ibv_qp", pointer + Structs.Qp.CONTEXT, context);
      Foreign.requireLayout(
          "ibv_qp",
          at(pointer + Structs.Qp.PD) == ((Pd) pd).pointer
              && at(pointer + Structs.Qp.SEND_CQ) == ((Cq) sendCq).pointer
              && at(pointer + Structs.Qp.RECV_CQ) == ((Cq) recvCq).pointer);
    }

    Libibverbs.Operations operations() {
      return ((Context) getContext()).operations;
    }

    void closed() {
      isOpen = false;
    }
  }

  static final class Channel extends RdmaEventChannel {
    final long pointer;

    Channel(long pointer) throws IOException {
      super(Foreign.MEMORY.get(Foreign.INT, pointer + Structs.Channel.EVENT_FD));
      this.pointer = pointer;
    }
  }

  static final class CmId extends RdmaCmId {
    final long pointer;

    CmId(RdmaEventChannel channel, long pointer) throws IOException {
      super(channel, null);
      this.pointer = pointer;
      Foreign.requireLayout(
          "rdma_cm_id",
          at(pointer + Structs.CmId.CHANNEL) == ((Channel) channel).pointer
              && Foreign.MEMORY.get(Foreign.INT, pointer + Structs.CmId.PS) >>> 16 == 0);
    }

    void hasQp(IbvQP qp) {
      setQp(qp);
    }

    void hasVerbs(IbvContext context) {
      setVerbs(context);
    }

    void closed() {
      isOpen = false;
    }
  }

  static final class CmEvent extends RdmaCmEvent {
    final long pointer;

    CmEvent(long pointer, int event, int status, RdmaCmId listener, RdmaCmId connection)
        throws IOException {
      super(event, listener, connection);
      this.pointer = pointer;
      this.status = status;
    }
  }

  /** A few bytes for the calls of one thread. */
  static final class Scratch {
    private static final ThreadLocal<Scratch> OF_THREAD = ThreadLocal.withInitial(Scratch::new);

    private final MemorySegment segment = Arena.ofAuto().allocate(512, 8);

    /** The address, zeroed. */
    static long zeroed() {
      Scratch scratch = OF_THREAD.get();
      scratch.segment.fill((byte) 0);
      return scratch.segment.address();
    }
  }

  private static long at(long address) {
    return Foreign.MEMORY.get(Foreign.LONG, address);
  }

  /** Requires a struct to have its context's address at the known place. */
  private static void requireOwner(String struct, long at, IbvContext context) throws IOException {
    Foreign.requireLayout(struct, at(at) == ((Context) context).pointer);
  }

  private Pointers() {}
}
