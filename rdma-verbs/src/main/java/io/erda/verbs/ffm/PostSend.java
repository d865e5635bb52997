package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.List;

/**
 * A chain of send requests as libibverbs reads it. Prepared once, changed and executed often; that
 * allocates nothing. One thread.
 */
public final class PostSend extends SVCPostSend {
  private final Pointers.Qp qp;
  private final MemorySegment memory;
  private final Request[] requests;
  private final long bad;

  PostSend(Pointers.Qp qp, List<IbvSendWR> list) {
    this.qp = qp;
    int sges = 0;
    for (IbvSendWR each : list) {
      sges += each.getSg_list().size();
    }
    long bytes = (long) list.size() * Structs.SendWr.BYTES + (long) sges * Structs.Sge.BYTES + 8;
    this.memory = Arena.ofAuto().allocate(bytes, 8);
    this.bad = memory.address() + bytes - 8;
    this.requests = new Request[list.size()];
    long sgeAt = (long) list.size() * Structs.SendWr.BYTES;
    for (int i = 0; i < requests.length; i++) {
      requests[i] = new Request((long) i * Structs.SendWr.BYTES, sgeAt, list.get(i));
      if (i > 0) {
        memory.set(
            LONG, requests[i - 1].at + Structs.SendWr.NEXT, memory.address() + requests[i].at);
      }
      sgeAt += (long) list.get(i).getSg_list().size() * Structs.Sge.BYTES;
    }
    assert sgeAt == bytes - 8 : sgeAt + " of " + bytes + " bytes are filled";
  }

  @Override
  public Request getWrMod(int index) {
    return requests[index];
  }

  @Override
  public SVCPostSend execute() throws IOException {
    try {
      qp.operations().postSend(qp.pointer, memory.address(), bad);
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
  public SVCPostSend free() {
    return this;
  }

  /** One request, with the operands of an atomic one, which DiSNI's interface lacks. */
  public final class Request implements SendWRMod, RdmaMod {
    private final long at;
    private final Piece[] pieces;
    private final boolean atomic;

    private Request(long at, long sgeAt, IbvSendWR from) {
      this.at = at;
      this.pieces = new Piece[from.getSg_list().size()];
      memory.set(LONG, at + Structs.SendWr.WR_ID, from.getWr_id());
      memory.set(LONG, at + Structs.SendWr.SG_LIST, memory.address() + sgeAt);
      memory.set(INT, at + Structs.SendWr.NUM_SGE, pieces.length);
      memory.set(INT, at + Structs.SendWr.OPCODE, from.getOpcode());
      memory.set(INT, at + Structs.SendWr.SEND_FLAGS, from.getSend_flags());
      memory.set(INT, at + Structs.SendWr.IMM_DATA, from.getImm_data());
      this.atomic =
          from.getOpcode() == IbvSendWR.IBV_WR_ATOMIC_CMP_AND_SWP
              || from.getOpcode() == IbvSendWR.IBV_WR_ATOMIC_FETCH_AND_ADD;
      if (atomic) {
        setRemote_addr(from.getAtomic().getRemote_addr());
        setRkey(from.getAtomic().getRkey());
        setOperands(from.getAtomic().getCompare_add(), from.getAtomic().getSwap());
      } else {
        setRemote_addr(from.getRdma().getRemote_addr());
        setRkey(from.getRdma().getRkey());
      }
      for (int i = 0; i < pieces.length; i++) {
        IbvSge sge = from.getSge(i);
        pieces[i] = new Piece(sgeAt + (long) i * Structs.Sge.BYTES);
        pieces[i].setAddr(sge.getAddr());
        pieces[i].setLength(sge.getLength());
        pieces[i].setLkey(sge.getLkey());
      }
    }

    /** Sets the operands of a compare-and-swap, or of a fetch-and-add. */
    public void setOperands(long compareOrAdd, long swap) {
      memory.set(LONG, at + Structs.SendWr.COMPARE_ADD, compareOrAdd);
      memory.set(LONG, at + Structs.SendWr.SWAP, swap);
    }

    @Override
    public void setWr_id(long wrId) {
      memory.set(LONG, at + Structs.SendWr.WR_ID, wrId);
    }

    @Override
    public long getWr_id() {
      return memory.get(LONG, at + Structs.SendWr.WR_ID);
    }

    @Override
    public void setSend_flags(int flags) {
      memory.set(INT, at + Structs.SendWr.SEND_FLAGS, flags);
    }

    @Override
    public int getSend_flags() {
      return memory.get(INT, at + Structs.SendWr.SEND_FLAGS);
    }

    @Override
    public int getNum_sge() {
      return pieces.length;
    }

    @Override
    public int getOpcode() {
      return memory.get(INT, at + Structs.SendWr.OPCODE);
    }

    @Override
    public Request getRdmaMod() {
      return this;
    }

    @Override
    public Piece getSgeMod(int index) {
      return pieces[index];
    }

    @Override
    public void setRemote_addr(long address) {
      memory.set(LONG, at + Structs.SendWr.REMOTE_ADDR, address);
    }

    @Override
    public long getRemote_addr() {
      return memory.get(LONG, at + Structs.SendWr.REMOTE_ADDR);
    }

    @Override
    public void setRkey(int rkey) {
      memory.set(INT, at + rkeyAt(), rkey);
    }

    @Override
    public int getRkey() {
      return memory.get(INT, at + rkeyAt());
    }

    private int rkeyAt() {
      return atomic ? Structs.SendWr.ATOMIC_RKEY : Structs.SendWr.RKEY;
    }

    @Override
    public void setReserved(int reserved) {}

    @Override
    public int getReserved() {
      return 0;
    }
  }

  /** A piece of local memory. */
  public final class Piece implements SgeMod {
    private final long at;

    private Piece(long at) {
      this.at = at;
    }

    @Override
    public void setAddr(long address) {
      memory.set(LONG, at + Structs.Sge.ADDR, address);
    }

    @Override
    public long getAddr() {
      return memory.get(LONG, at + Structs.Sge.ADDR);
    }

    @Override
    public void setLength(int length) {
      memory.set(INT, at + Structs.Sge.LENGTH, length);
    }

    @Override
    public int getLength() {
      return memory.get(INT, at + Structs.Sge.LENGTH);
    }

    @Override
    public void setLkey(int lkey) {
      memory.set(INT, at + Structs.Sge.LKEY, lkey);
    }

    @Override
    public int getLkey() {
      return memory.get(INT, at + Structs.Sge.LKEY);
    }
  }
}
