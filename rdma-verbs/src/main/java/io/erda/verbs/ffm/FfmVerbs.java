package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * DiSNI's verbs over libibverbs, and verbs that DiSNI lacks: regions under an address of the
 * caller's choice, queue pairs without a connection manager, FLUSH and ATOMIC_WRITE.
 */
public final class FfmVerbs extends RdmaVerbs {
  private static final int EINVAL = 22;
  private static final int ACCESS_FLAGS_MASK = 1 << 3;
  private final Libibverbs library;
  private final FfmCm cm;

  FfmVerbs(Libibverbs library, FfmCm cm) {
    this.library = library;
    this.cm = cm;
  }

  @Override
  public IbvPd allocPd(IbvContext context) throws IOException {
    return new Pointers.Pd(context, library.allocPd(((Pointers.Context) context).pointer));
  }

  @Override
  public int deallocPd(IbvPd pd) throws IOException {
    library.deallocPd(((Pointers.Pd) pd).pointer);
    return 0;
  }

  @Override
  public IbvCompChannel createCompChannel(IbvContext context) throws IOException {
    return new Pointers.CompChannel(
        library.createCompChannel(((Pointers.Context) context).pointer), context);
  }

  @Override
  public int destroyCompChannel(IbvCompChannel channel) throws IOException {
    library.destroyCompChannel(((Pointers.CompChannel) channel).pointer);
    return 0;
  }

  @Override
  public IbvCQ createCQ(IbvContext context, IbvCompChannel channel, int entries, int vector)
      throws IOException {
    long pointer =
        library.createCq(
            ((Pointers.Context) context).pointer,
            entries,
            ((Pointers.CompChannel) channel).pointer,
            vector);
    return new Pointers.Cq(context, channel, pointer, entries);
  }

  @Override
  public int destroyCQ(IbvCQ cq) throws IOException {
    library.destroyCq(((Pointers.Cq) cq).pointer);
    return 0;
  }

  @Override
  public boolean getCqEvent(IbvCompChannel channel, IbvCQ cq, int timeoutMs) throws IOException {
    if (!Waiter.isReadable(channel.getFd(), timeoutMs)) {
      return false;
    }
    long scratch = Pointers.Scratch.zeroed();
    library.getCqEvent(((Pointers.CompChannel) channel).pointer, scratch, scratch + 8);
    return true;
  }

  /**
   * Takes and acknowledges all events of a channel, of any completion queue. Does not block.
   *
   * @return how many there were
   */
  public int drainCqEvents(IbvCompChannel channel) throws IOException {
    int events = 0;
    while (Waiter.isReadable(channel.getFd(), 0)) {
      long scratch = Pointers.Scratch.zeroed();
      library.getCqEvent(((Pointers.CompChannel) channel).pointer, scratch, scratch + 8);
      library.ackCqEvents(MEMORY.get(LONG, scratch), 1);
      events++;
    }
    return events;
  }

  @Override
  public int ackCqEvents(IbvCQ cq, int count) {
    library.ackCqEvents(((Pointers.Cq) cq).pointer, count);
    return 0;
  }

  @Override
  public SVCReqNotify reqNotifyCQ(IbvCQ cq, boolean solicitedOnly) {
    Pointers.Cq queue = (Pointers.Cq) cq;
    Libibverbs.Operations operations = ((Pointers.Context) cq.getContext()).operations;
    return new SVCReqNotify() {
      @Override
      public SVCReqNotify execute() throws IOException {
        operations.reqNotify(queue.pointer, solicitedOnly);
        return this;
      }

      @Override
      public boolean isValid() {
        return queue.isOpen();
      }

      @Override
      public SVCReqNotify free() {
        return this;
      }
    };
  }

  @Override
  public SVCPollCq pollCQ(IbvCQ cq, IbvWC[] completions, int limit) {
    return new PollCq((Pointers.Cq) cq, completions, limit);
  }

  @Override
  public SVCPostSend postSend(IbvQP qp, List<IbvSendWR> list, List<IbvSendWR> bad) {
    return new PostSend((Pointers.Qp) qp, list);
  }

  @Override
  public SVCPostRecv postRecv(IbvQP qp, List<IbvRecvWR> list, List<IbvRecvWR> bad) {
    return new PostRecv((Pointers.Qp) qp, list);
  }

  @Override
  public SVCRegMr regMr(IbvPd pd, ByteBuffer buffer, int access) {
    return regMr(pd, MemorySegment.ofBuffer(buffer).address(), buffer.remaining(), access);
  }

  @Override
  public SVCRegMr regMr(IbvPd pd, long address, int length, int access) {
    Pointers.Pd domain = (Pointers.Pd) pd;
    return new SVCRegMr() {
      private IbvMr mr;

      @Override
      public SVCRegMr execute() throws IOException {
        long pointer = library.regMr(domain.pointer, address, length, access);
        mr = new Pointers.Mr(domain.getContext(), pointer, address, address, length, access);
        return this;
      }

      @Override
      public IbvMr getMr() {
        return mr;
      }

      @Override
      public boolean isValid() {
        return true;
      }

      @Override
      public SVCRegMr free() {
        return this;
      }
    };
  }

  /**
   * Registers memory that requests name by {@code iova} instead of its address. Both have the same
   * offset in a page.
   */
  public IbvMr regMr(IbvPd pd, long address, long length, long iova, int access)
      throws IOException {
    long pointer = library.regMrIova(((Pointers.Pd) pd).pointer, address, length, iova, access);
    return new Pointers.Mr(pd.getContext(), pointer, iova, address, length, access);
  }

  @Override
  public SVCDeregMr deregMr(IbvMr mr) {
    Pointers.Mr region = (Pointers.Mr) mr;
    return new SVCDeregMr() {
      @Override
      public SVCDeregMr execute() throws IOException {
        library.deregMr(region.pointer);
        return this;
      }

      @Override
      public boolean isValid() {
        return true;
      }

      @Override
      public SVCDeregMr free() {
        return this;
      }
    };
  }

  @Override
  public int queryOdpSupport(IbvContext context) throws IOException {
    throw new IOException("not asked by this provider");
  }

  @Override
  public int expPrefetchMr(IbvMr mr, long address, int length) throws IOException {
    throw new IOException("not offered by this provider");
  }

  /**
   * Checks the layout of this rdma-core's structs, with queue pairs that are made for that.
   *
   * @return the abilities of queue pairs that DiSNI lacks
   * @throws IOException when the layout is not known here
   */
  public Offered checkLayouts(IbvContext context, IbvPd pd, IbvCompChannel channel)
      throws IOException {
    return LayoutCheck.run(this, library, context, pd, channel);
  }

  /** The abilities that a device reports; the libraries may lack them. */
  public Offered saidToBeOffered(IbvContext context) throws IOException {
    return ((Pointers.Context) context).extension.offered();
  }

  /** Whether a device reports that READs and WRITEs of peers reach memory that is not pinned. */
  public boolean pagesOnDemand(IbvContext context) throws IOException {
    return ((Pointers.Context) context).extension.pagesOnDemand();
  }

  /**
   * Makes a queue pair that no connection manager knows; in state RESET.
   *
   * @param with the abilities for {@link #extended}
   */
  public IbvQP createQp(IbvPd pd, IbvQPInitAttr attributes, Offered with) throws IOException {
    long init = FfmCm.initAttributes(attributes);
    long domain = ((Pointers.Pd) pd).pointer;
    long pointer =
        with.operations() == 0
            ? library.createQp(domain, init)
            : ((Pointers.Context) pd.getContext()).extension.createQp(domain, init, with);
    return new Pointers.Qp(pointer, pd, attributes.getSend_cq(), attributes.getRecv_cq());
  }

  /** Posts to a queue pair that was made with some abilities; null for none. */
  public PostExtended extended(IbvQP qp, Offered with) throws IOException {
    return with.operations() == 0
        ? null
        : new PostExtended(library.toExtended(((Pointers.Qp) qp).pointer), with);
  }

  public void destroyQp(IbvQP qp) throws IOException {
    ((Pointers.Qp) qp).closed();
    library.destroyQp(((Pointers.Qp) qp).pointer);
  }

  /** Drops all work that was posted to a queue pair. */
  public void reset(IbvQP qp) throws IOException {
    long attributes = Pointers.Scratch.zeroed();
    MEMORY.set(INT, attributes + Structs.QpAttr.STATE, IbvQP.IBV_QPS_RESET);
    library.modifyQp(((Pointers.Qp) qp).pointer, attributes, 1);
  }

  /**
   * Brings a queue pair from RESET to INIT, with the route of a connected ID.
   *
   * @param access what the peer may do through it, {@code IBV_ACCESS_…}
   */
  public void toInit(IbvQP qp, RdmaCmId way, int access) throws IOException {
    long attributes = Pointers.Scratch.zeroed();
    int mask = attributesOf(way, attributes, IbvQP.IBV_QPS_INIT);
    MEMORY.set(INT, attributes + Structs.QpAttr.ACCESS_FLAGS, access);
    library.modifyQp(((Pointers.Qp) qp).pointer, attributes, mask | ACCESS_FLAGS_MASK);
  }

  /**
   * Brings a queue pair from INIT to RTS, with the route of a connected ID.
   *
   * @param peer the number of the peer's queue pair
   * @param peerPsn the first packet number that the peer sends
   * @param ownPsn the first that is sent
   */
  public void toReady(IbvQP qp, RdmaCmId way, int peer, int peerPsn, int ownPsn)
      throws IOException {
    long attributes = Pointers.Scratch.zeroed();
    int mask = attributesOf(way, attributes, IbvQP.IBV_QPS_RTR);
    MEMORY.set(INT, attributes + Structs.QpAttr.DEST_QP_NUM, peer);
    MEMORY.set(INT, attributes + Structs.QpAttr.RQ_PSN, peerPsn);
    library.modifyQp(((Pointers.Qp) qp).pointer, attributes, mask);
    attributes = Pointers.Scratch.zeroed();
    mask = attributesOf(way, attributes, IbvQP.IBV_QPS_RTS);
    MEMORY.set(INT, attributes + Structs.QpAttr.SQ_PSN, ownPsn);
    library.modifyQp(((Pointers.Qp) qp).pointer, attributes, mask);
  }

  /** Whether the peer that requested the connection of an ID still waits for the answer. */
  public boolean isWaiting(RdmaCmId request) throws IOException {
    try {
      attributesOf(request, Pointers.Scratch.zeroed(), IbvQP.IBV_QPS_INIT);
      return true;
    } catch (VerbsException e) {
      if (e.errno() != EINVAL) {
        throw e;
      }
      return false;
    }
  }

  private int attributesOf(RdmaCmId way, long attributes, int state) throws IOException {
    MEMORY.set(INT, attributes + Structs.QpAttr.STATE, state);
    long mask = attributes + Structs.QpAttr.BYTES;
    cm.library().initQpAttr(((Pointers.CmId) way).pointer, attributes, mask);
    return MEMORY.get(INT, mask);
  }

  /** The kernel's name of a device. */
  public String name(IbvContext context) {
    return library.deviceName(((Pointers.Context) context).pointer);
  }
}
