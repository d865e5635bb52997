package io.erda.verbs.ffm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the abilities that DiSNI does not know, and how such work is posted. The test writes the
 * structs as rdma-core does.
 */
@SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // Called through pointers.
class ExtensionTest {
  private static final int BYTES = 1024;
  private static final int CONTEXT_AT = 640;
  private static final long EXTENDED = -1;
  private static final long WORD = 0x0102_0304_0506_0708L;

  /** FLUSH of both types, ATOMIC_WRITE, and two of the older flags. */
  private static final long FLAGS = 7L << 38 | 0x8000_0001L;

  private static final Offered ALL = new Offered(true, true, true);

  private final Arena arena = Arena.ofConfined();
  private final List<String> calls = new ArrayList<>();
  private int shift;

  @AfterEach
  void end() {
    arena.close();
  }

  private long function(String name, FunctionDescriptor descriptor) throws Exception {
    MethodHandle method = MethodHandles.lookup().bind(this, name, descriptor.toMethodType());
    return Linker.nativeLinker().upcallStub(method, descriptor, arena).address();
  }

  private Extension extension(long compatible, long size) throws Exception {
    MemorySegment struct = arena.allocate(BYTES, 8);
    struct.set(Foreign.LONG, CONTEXT_AT + Structs.Context.ABI_COMPAT, compatible);
    struct.set(Foreign.LONG, CONTEXT_AT + Structs.Extended.SIZE, size);
    struct.set(
        Foreign.LONG,
        CONTEXT_AT + Structs.Extended.QUERY_DEVICE_EX,
        function(
            "queryDevice",
            Foreign.function(Foreign.INT, Foreign.LONG, Foreign.LONG, Foreign.LONG, Foreign.LONG)));
    struct.set(
        Foreign.LONG,
        CONTEXT_AT + Structs.Extended.CREATE_QP_EX,
        function("createQp", Foreign.function(Foreign.LONG, Foreign.LONG, Foreign.LONG)));
    return new Extension(struct.address() + CONTEXT_AT);
  }

  private long pagedGeneral;
  private int pagedRc;

  private int queryDevice(long context, long input, long attributes, long bytes) {
    MemorySegment struct = MemorySegment.ofAddress(attributes).reinterpret(bytes);
    struct.set(Foreign.INT, Structs.DeviceAttr.CAP_FLAGS, (int) FLAGS);
    struct.set(Foreign.LONG, 240, pagedGeneral);
    struct.set(Foreign.INT, 248, pagedRc);
    struct.set(Foreign.LONG, Structs.DeviceAttr.CAP_FLAGS_EX - shift, FLAGS);
    return 0;
  }

  private long createQp(long context, long init) {
    MemorySegment struct = MemorySegment.ofAddress(init).reinterpret(136);
    calls.add(
        "create "
            + struct.get(Foreign.INT, 60)
            + " pd "
            + struct.get(Foreign.LONG, 64)
            + " for "
            + struct.get(Foreign.LONG, 128));
    return struct.get(Foreign.LONG, 64) == 0 ? 0 : 4711;
  }

  @Test
  void whatADeviceOffersIsBelievedWhereItIsSaidAsExpected() throws Exception {
    Extension extension = extension(EXTENDED, CONTEXT_AT + Structs.Context.BYTES);
    assertEquals(ALL, extension.offered());
    shift = 8;
    assertEquals(Offered.NOTHING, extension.offered());
  }

  @Test
  void pagingOnDemandIsForReadsAndWritesOfConnections() throws Exception {
    Extension extension = extension(EXTENDED, CONTEXT_AT + Structs.Context.BYTES);
    assertFalse(extension.pagesOnDemand());
    pagedGeneral = 1;
    pagedRc = 0b11111;
    assertTrue(extension.pagesOnDemand());
    pagedRc = 0b10111;
    assertFalse(extension.pagesOnDemand(), "no READ");
    pagedRc = 0b11011;
    assertFalse(extension.pagesOnDemand(), "no WRITE");
    pagedRc = 0b1100;
    assertTrue(extension.pagesOnDemand());
    pagedGeneral = 2;
    assertFalse(extension.pagesOnDemand(), "none at all");
    pagedGeneral = 1;
    shift = 8;
    assertFalse(extension.pagesOnDemand(), "another layout");
    assertFalse(extension(0, 0).pagesOnDemand());
  }

  @Test
  void aProviderMayHaveNoneOfIt() throws Exception {
    assertEquals(Offered.NOTHING, extension(0, 0).offered());
    long older = Structs.Context.BYTES - Structs.Extended.CREATE_QP_EX;
    assertEquals(Offered.NOTHING, extension(EXTENDED, older).offered());
  }

  @Test
  void aSizeThatCanBeNoneIsRefused() {
    for (long size : new long[] {0, 320, 1001, 1L << 40}) {
      IOException refused = assertThrows(IOException.class, () -> extension(EXTENDED, size));
      assertTrue(refused.getMessage().contains("struct verbs_context"), refused.getMessage());
    }
  }

  @Test
  void aQueuePairIsMadeForWhatIsOffered() throws Exception {
    Extension extension = extension(EXTENDED, CONTEXT_AT + Structs.Context.BYTES);
    assertEquals(4711, extension.createQp(17, Pointers.Scratch.zeroed(), ALL));
    assertThrows(
        VerbsException.class,
        () -> extension.createQp(0, Pointers.Scratch.zeroed(), ALL.withoutFlush()));
    assertEquals(List.of("create 65 pd 17 for 6144", "create 65 pd 0 for 4096"), calls);
  }

  @Test
  void whatTheKernelKnowsIsTaken() {
    assertEquals(Offered.NOTHING, Offered.of(0xffff_ffffL));
    assertEquals(new Offered(true, false, false), Offered.of(1L << 38));
    assertEquals(Offered.NOTHING, Offered.of(1L << 39), "persistent alone is no FLUSH");
    assertEquals(new Offered(false, false, true), Offered.of(1L << 40));
  }

  private MemorySegment queuePair(int moved) throws Exception {
    MemorySegment struct = arena.allocate(BYTES, 8);
    FunctionDescriptor start = FunctionDescriptor.ofVoid(Foreign.LONG);
    struct.set(Foreign.LONG, Structs.QpEx.WR_START + moved, function("start", start));
    struct.set(
        Foreign.LONG,
        Structs.QpEx.WR_COMPLETE + moved,
        function("complete", Foreign.function(Foreign.INT, Foreign.LONG)));
    struct.set(
        Foreign.LONG,
        Structs.QpEx.WR_FLUSH + moved,
        function(
            "flush",
            FunctionDescriptor.ofVoid(
                Foreign.LONG,
                Foreign.INT,
                Foreign.LONG,
                Foreign.LONG,
                Foreign.BYTE,
                Foreign.BYTE)));
    struct.set(
        Foreign.LONG,
        Structs.QpEx.WR_ATOMIC_WRITE + moved,
        function(
            "atomicWrite",
            FunctionDescriptor.ofVoid(Foreign.LONG, Foreign.INT, Foreign.LONG, Foreign.LONG)));
    return struct;
  }

  private void start(long qp) {
    calls.add("start");
  }

  private int complete(long qp) {
    MemorySegment struct = MemorySegment.ofAddress(qp).reinterpret(BYTES);
    long id = struct.get(Foreign.LONG, Structs.QpEx.WR_ID);
    calls.add("complete " + id + ", flags " + struct.get(Foreign.INT, Structs.QpEx.WR_FLAGS));
    return id == 13 ? 12 : 0;
  }

  private void flush(long qp, int rkey, long address, long length, byte type, byte level) {
    calls.add("flush " + rkey + " " + address + " " + length + " " + type + " " + level);
  }

  private void atomicWrite(long qp, int rkey, long address, long word) {
    long value = MemorySegment.ofAddress(word).reinterpret(8).get(Foreign.LONG, 0);
    calls.add("write " + rkey + " " + address + " " + Long.toHexString(value));
  }

  @Test
  void flushesAndWordsArePosted() throws Exception {
    PostExtended post = new PostExtended(queuePair(0).address(), ALL);
    post.flush(11, 2, 5, 4096, 100, Offered.FLUSH_GLOBAL | Offered.FLUSH_PERSISTENT);
    post.atomicWrite(12, 3, 6, 8192, WORD);
    IOException full = assertThrows(IOException.class, () -> post.flush(13, 2, 5, 0, 1, 1));

    assertTrue(full.getMessage().startsWith("ibv_wr_flush: "), full.getMessage());
    assertEquals(
        List.of(
            "start",
            "flush 5 4096 100 3 0",
            "complete 11, flags 2",
            "start",
            "write 6 8192 102030405060708",
            "complete 12, flags 3",
            "start",
            "flush 5 0 1 1 0",
            "complete 13, flags 2"),
        calls);
  }

  @Test
  void queuePairsThatAreLaidOutInAnotherWayAreRefused() throws Exception {
    long qp = queuePair(8).address();
    IOException refused = assertThrows(IOException.class, () -> new PostExtended(qp, ALL));
    assertTrue(refused.getMessage().contains("struct ibv_qp_ex"), refused.getMessage());
  }
}
