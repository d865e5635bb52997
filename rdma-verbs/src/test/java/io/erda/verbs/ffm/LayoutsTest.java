package io.erda.verbs.ffm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A rdma-core that lays its structs out in another way is refused, whichever struct it is. The
 * structs are written here as rdma-core would, once as they are known and once with everything 8
 * bytes further on.
 */
class LayoutsTest {
  private static final int BYTES = 512;
  private static final int MOVED = 8;
  private static final int QP_NUMBER = 17;
  private static final long ADDRESS = 0x10_0000;
  private static final long LENGTH = 4096;

  private Object before;
  private Arena arena;
  private Pointers.Context context;
  private Pointers.Pd pd;
  private Pointers.Cq cq;
  private Pointers.Channel channel;

  /** The completion that the fake ibv_poll_cq writes, and its offset in the struct. */
  private int wcShift;

  @BeforeEach
  void makeOwners() throws Throwable {
    before = FfmProvider.field().get(null);
    FfmProvider.field().set(null, new NoProvider());
    arena = Arena.ofConfined();
    context = new Pointers.Context(context(0));
    pd = new Pointers.Pd(context, owned(0));
    cq = new Pointers.Cq(context, null, owned(0), 8);
    MemorySegment struct = arena.allocate(BYTES, 8);
    struct.set(Foreign.INT, Structs.Channel.EVENT_FD, 9);
    channel = new Pointers.Channel(struct.address());
  }

  @AfterEach
  void end() throws ReflectiveOperationException {
    FfmProvider.field().set(null, before);
    arena.close();
  }

  /** DiSNI's objects ask for one when they are made, and without one for its native library. */
  private static final class NoProvider extends RdmaProvider {
    @Override
    public RdmaCm openCm() {
      return null;
    }

    @Override
    public RdmaVerbs openVerbs() {
      return null;
    }

    @Override
    public int getVersion() {
      return 0;
    }
  }

  private interface Struct {
    /** Writes one {@code shift} bytes further on than is known, and takes it. */
    void take(int shift) throws Throwable;
  }

  private static void isChecked(String name, Struct struct) {
    assertDoesNotThrow(() -> struct.take(0));
    IOException refused = assertThrows(IOException.class, () -> struct.take(MOVED));
    assertTrue(refused.getMessage().contains("struct " + name), refused.getMessage());
    assertTrue(refused.getMessage().contains("known are 44 to 60"), refused.getMessage());
  }

  @Test
  void contextsAreChecked() {
    isChecked("ibv_context", shift -> assertEquals(7, contextOf(shift).getCmd_fd()));
  }

  private Pointers.Context contextOf(int shift) throws Throwable {
    return new Pointers.Context(context(shift));
  }

  @Test
  void protectionDomainsAreChecked() {
    isChecked(
        "ibv_pd",
        shift -> assertEquals(context, new Pointers.Pd(context, owned(shift)).getContext()));
  }

  @Test
  void completionQueuesAndChannelsAreChecked() {
    isChecked(
        "ibv_cq",
        shift -> assertEquals(8, new Pointers.Cq(context, null, owned(shift), 8).getCqe()));
    isChecked(
        "ibv_comp_channel",
        shift -> {
          MemorySegment struct = struct(Structs.Channel.COMP_CONTEXT + shift, context.pointer);
          struct.set(Foreign.INT, Structs.Channel.COMP_FD + shift, 9);
          assertEquals(9, new Pointers.CompChannel(struct.address(), context).getFd());
        });
  }

  /** Its first field is at the same place, and all others are not. */
  @Test
  void regionsAreChecked() {
    isChecked(
        "ibv_mr",
        shift -> {
          MemorySegment struct = struct(Structs.Mr.CONTEXT, context.pointer);
          struct.set(Foreign.LONG, Structs.Mr.ADDR + shift, ADDRESS);
          struct.set(Foreign.LONG, Structs.Mr.LENGTH + shift, LENGTH);
          struct.set(Foreign.INT, Structs.Mr.LKEY + shift, 3);
          long pointer = struct.address();
          assertEquals(3, new Pointers.Mr(context, pointer, ADDRESS, ADDRESS, LENGTH, 0).getLkey());
        });
  }

  @Test
  void queuePairsAreChecked() {
    isChecked(
        "ibv_qp",
        shift -> {
          MemorySegment struct = struct(Structs.Qp.CONTEXT, context.pointer);
          struct.set(Foreign.LONG, Structs.Qp.PD + shift, pd.pointer);
          struct.set(Foreign.LONG, Structs.Qp.SEND_CQ + shift, cq.pointer);
          struct.set(Foreign.LONG, Structs.Qp.RECV_CQ + shift, cq.pointer);
          struct.set(Foreign.INT, Structs.Qp.QP_NUM + shift, QP_NUMBER);
          assertEquals(QP_NUMBER, new Pointers.Qp(struct.address(), pd, cq, cq).getQp_num());
        });
  }

  @Test
  void idsOfTheConnectionManagerAreChecked() {
    isChecked(
        "rdma_cm_id",
        shift -> {
          MemorySegment struct = struct(Structs.CmId.CHANNEL + shift, channel.pointer);
          assertEquals(channel, new Pointers.CmId(channel, struct.address()).getCmChannel());
        });
  }

  /**
   * The completions of {@code ibv_poll_cq} have no pointer that could be checked, so a receive has
   * to complete.
   */
  @Test
  void completionsAreChecked() {
    isChecked(
        "ibv_wc",
        shift -> {
          wcShift = shift;
          LayoutCheck.requireFlushed(cq, QP_NUMBER);
        });
  }

  @SuppressWarnings("UnusedMethod") // Called as ibv_poll_cq.
  private int pollCq(long ofCq, int entries, long wcs) {
    MemorySegment wc = MemorySegment.ofAddress(wcs).reinterpret(Structs.Wc.BYTES);
    wc.fill((byte) 0);
    wc.set(Foreign.LONG, Structs.Wc.WR_ID + wcShift, LayoutCheck.WR_ID);
    wc.set(Foreign.INT, Structs.Wc.STATUS + wcShift, LayoutCheck.FLUSHED);
    wc.set(Foreign.INT, Structs.Wc.QP_NUM + wcShift, QP_NUMBER);
    return 1;
  }

  private MemorySegment struct(int at, long pointer) {
    MemorySegment struct = arena.allocate(BYTES, 8);
    struct.set(Foreign.LONG, at, pointer);
    return struct;
  }

  /** Returns a struct that begins with a pointer to the context. */
  private long owned(int shift) {
    return struct(Structs.Owned.CONTEXT + shift, context.pointer).address();
  }

  private long context(int shift) throws ReflectiveOperationException {
    MethodHandle poll =
        MethodHandles.lookup()
            .bind(
                this,
                "pollCq",
                MethodType.methodType(int.class, long.class, int.class, long.class));
    long function =
        Linker.nativeLinker()
            .upcallStub(
                poll, Foreign.function(Foreign.INT, Foreign.LONG, Foreign.INT, Foreign.LONG), arena)
            .address();
    MemorySegment struct = arena.allocate(BYTES, 8);
    struct.set(Foreign.LONG, Structs.Context.POLL_CQ + shift, function);
    struct.set(Foreign.LONG, Structs.Context.REQ_NOTIFY_CQ + shift, function);
    struct.set(Foreign.LONG, Structs.Context.POST_SEND + shift, function);
    struct.set(Foreign.LONG, Structs.Context.POST_RECV + shift, function);
    struct.set(Foreign.INT, Structs.Context.CMD_FD + shift, 7);
    struct.set(Foreign.INT, Structs.Context.ASYNC_FD + shift, 8);
    struct.set(Foreign.INT, Structs.Context.NUM_COMP_VECTORS + shift, 1);
    return struct.address();
  }
}
