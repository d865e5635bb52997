package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;

import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostRecv;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.List;

/** A chain of receives; see {@link PostSend}. */
public final class PostRecv extends SVCPostRecv {
  private final Pointers.Qp qp;
  private final MemorySegment memory;
  private final long bad;
  private final Request[] requests;

  PostRecv(Pointers.Qp qp, List<IbvRecvWR> list) {
    this.qp = qp;
    int sges = 0;
    for (IbvRecvWR each : list) {
      sges += each.getSg_list().size();
    }
    long bytes = (long) list.size() * Structs.RecvWr.BYTES + (long) sges * Structs.Sge.BYTES + 8;
    this.memory = Arena.ofAuto().allocate(bytes, 8);
    this.bad = memory.address() + bytes - 8;
    this.requests = new Request[list.size()];
    long sgeAt = (long) list.size() * Structs.RecvWr.BYTES;
    for (int i = 0; i < requests.length; i++) {
      List<IbvSge> pieces = list.get(i).getSg_list();
      long at = (long) i * Structs.RecvWr.BYTES;
      requests[i] = new Request(at, sgeAt);
      memory.set(LONG, at + Structs.RecvWr.WR_ID, list.get(i).getWr_id());
      memory.set(LONG, at + Structs.RecvWr.SG_LIST, memory.address() + sgeAt);
      memory.set(INT, at + Structs.RecvWr.NUM_SGE, pieces.size());
      if (i > 0) {
        memory.set(LONG, at - Structs.RecvWr.BYTES + Structs.RecvWr.NEXT, memory.address() + at);
      }
      for (IbvSge each : pieces) {
        memory.set(LONG, sgeAt + Structs.Sge.ADDR, each.getAddr());
        memory.set(INT, sgeAt + Structs.Sge.LENGTH, each.getLength());
        memory.set(INT, sgeAt + Structs.Sge.LKEY, each.getLkey());
        sgeAt += Structs.Sge.BYTES;
      }
    }
    assert sgeAt == bytes - 8 : sgeAt + " of " + bytes + " bytes are filled";
  }

  @Override
  public Request getWrMod(int index) {
    return requests[index];
  }

  @Override
  public SVCPostRecv execute() throws IOException {
    try {
      qp.operations().postRecv(qp.pointer, memory.address(), bad);
    } finally {
      Reference.reachabilityFence(this);
    }
    return this;
  }

  @Override
  public boolean isValid() {
    return qp.isOpen();
  }

  @Override
  public SVCPostRecv free() {
    return this;
  }

  /** One receive, which can be changed, unlike in DiSNI's interface. */
  public final class Request implements RecvWRMod {
    private final long at;
    private final long sgeAt;

    private Request(long at, long sgeAt) {
      this.at = at;
      this.sgeAt = sgeAt;
    }

    @Override
    public long getWr_id() {
      return memory.get(LONG, at + Structs.RecvWr.WR_ID);
    }

    /** Sets where the next message is received, and the ID of its completion. */
    public void setTarget(long wrId, long address) {
      memory.set(LONG, at + Structs.RecvWr.WR_ID, wrId);
      memory.set(LONG, sgeAt + Structs.Sge.ADDR, address);
    }
  }
}
