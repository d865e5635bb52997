package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;

import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Takes completions from a completion queue into prepared objects; allocates nothing. */
final class PollCq extends SVCPollCq {
  private final Pointers.Cq cq;
  private final Libibverbs.Operations operations;
  private final IbvWC[] completions;
  private final int limit;
  private final MemorySegment memory;
  private int polls;

  PollCq(Pointers.Cq cq, IbvWC[] completions, int limit) {
    this.cq = cq;
    this.operations = ((Pointers.Context) cq.getContext()).operations;
    this.completions = completions;
    this.limit = Math.min(limit, completions.length);
    this.memory = Arena.ofAuto().allocate((long) this.limit * Structs.Wc.BYTES, 8);
  }

  @Override
  public SVCPollCq execute() throws IOException {
    polls = operations.pollCq(cq.pointer, limit, memory.address());
    for (int i = 0; i < polls; i++) {
      long at = (long) i * Structs.Wc.BYTES;
      IbvWC to = completions[i];
      to.setWr_id(memory.get(LONG, at + Structs.Wc.WR_ID));
      to.setStatus(memory.get(INT, at + Structs.Wc.STATUS));
      to.setOpcode(memory.get(INT, at + Structs.Wc.OPCODE));
      to.setVendor_err(memory.get(INT, at + Structs.Wc.VENDOR_ERR));
      to.setByte_len(memory.get(INT, at + Structs.Wc.BYTE_LEN));
      to.setImm_data(memory.get(INT, at + Structs.Wc.IMM_DATA));
      to.setQp_num(memory.get(INT, at + Structs.Wc.QP_NUM));
    }
    return this;
  }

  @Override
  public int getPolls() {
    return polls;
  }

  @Override
  public boolean isValid() {
    return cq.isOpen();
  }

  @Override
  public SVCPollCq free() {
    return this;
  }
}
