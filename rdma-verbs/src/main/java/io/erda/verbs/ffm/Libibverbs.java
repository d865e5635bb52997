package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;
import static io.erda.verbs.ffm.Foreign.function;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls of libibverbs.so.1. A failed call throws, with its name and {@code errno}; addresses of
 * structs are {@code long}s.
 */
final class Libibverbs {
  private static final FunctionDescriptor PLAIN = function(INT, LONG);

  private final MethodHandle allocPd;
  private final MethodHandle deallocPd;
  private final MethodHandle regMr;
  private final MethodHandle regMrIova;
  private final MethodHandle deregMr;
  private final MethodHandle createCompChannel;
  private final MethodHandle destroyCompChannel;
  private final MethodHandle createCq;
  private final MethodHandle destroyCq;
  private final MethodHandle getCqEvent;
  private final MethodHandle ackCqEvents;
  private final MethodHandle createQp;
  private final MethodHandle modifyQp;
  private final MethodHandle destroyQp;
  private final MethodHandle deviceName;
  private final MethodHandle toExtended;

  Libibverbs() throws IOException {
    Foreign library = Foreign.load("libibverbs.so.1");
    allocPd = library.withErrno("ibv_alloc_pd", function(LONG, LONG));
    deallocPd = library.plain("ibv_dealloc_pd", PLAIN);
    regMr = library.withErrno("ibv_reg_mr", function(LONG, LONG, LONG, LONG, INT));
    regMrIova = library.withErrno("ibv_reg_mr_iova", function(LONG, LONG, LONG, LONG, LONG, INT));
    deregMr = library.plain("ibv_dereg_mr", PLAIN);
    createCompChannel = library.withErrno("ibv_create_comp_channel", function(LONG, LONG));
    destroyCompChannel = library.plain("ibv_destroy_comp_channel", PLAIN);
    createCq = library.withErrno("ibv_create_cq", function(LONG, LONG, INT, LONG, LONG, INT));
    destroyCq = library.plain("ibv_destroy_cq", PLAIN);
    getCqEvent = library.withErrno("ibv_get_cq_event", function(INT, LONG, LONG, LONG));
    ackCqEvents = library.plain("ibv_ack_cq_events", FunctionDescriptor.ofVoid(LONG, INT));
    createQp = library.withErrno("ibv_create_qp", function(LONG, LONG, LONG));
    modifyQp = library.plain("ibv_modify_qp", function(INT, LONG, LONG, INT));
    destroyQp = library.plain("ibv_destroy_qp", PLAIN);
    deviceName = library.plain("ibv_get_device_name", function(LONG, LONG));
    toExtended = library.plain("ibv_qp_to_qp_ex", function(LONG, LONG));
  }

  /** The functions behind the pointers of an {@code ibv_context}; no library is needed for them. */
  static final class Operations {
    private final MethodHandle pollCq;
    private final MethodHandle reqNotify;
    private final MethodHandle postSend;
    private final MethodHandle postRecv;

    /**
     * Finds them, after a check that the context is laid out as {@link Structs} says.
     *
     * @throws IOException when it is not: another version of rdma-core
     */
    Operations(long context) throws IOException {
      requireLayout(context);
      pollCq = behind(context, Structs.Context.POLL_CQ, function(INT, LONG, INT, LONG));
      reqNotify = behind(context, Structs.Context.REQ_NOTIFY_CQ, function(INT, LONG, INT));
      postSend = behind(context, Structs.Context.POST_SEND, function(INT, LONG, LONG, LONG));
      postRecv = behind(context, Structs.Context.POST_RECV, function(INT, LONG, LONG, LONG));
    }

    private static void requireLayout(long context) throws IOException {
      int cmdFd = MEMORY.get(INT, context + Structs.Context.CMD_FD);
      int asyncFd = MEMORY.get(INT, context + Structs.Context.ASYNC_FD);
      int vectors = MEMORY.get(INT, context + Structs.Context.NUM_COMP_VECTORS);
      boolean pointers = true;
      for (int at :
          new int[] {
            Structs.Context.POLL_CQ,
            Structs.Context.REQ_NOTIFY_CQ,
            Structs.Context.POST_SEND,
            Structs.Context.POST_RECV
          }) {
        pointers &= Foreign.isPointer(MEMORY.get(LONG, context + at));
      }
      Foreign.requireLayout(
          "ibv_context: command fd "
              + cmdFd
              + ", event fd "
              + asyncFd
              + ", "
              + vectors
              + " completion vectors",
          pointers && isFd(cmdFd) && isFd(asyncFd) && vectors >= 1 && vectors <= 1 << 16);
    }

    private static boolean isFd(int fd) {
      return fd >= 0 && fd < 1 << 20;
    }

    private static MethodHandle behind(long context, int offset, FunctionDescriptor descriptor) {
      return Foreign.behind(MEMORY.get(LONG, context + offset), descriptor);
    }

    int pollCq(long cq, int entries, long wcs) throws IOException {
      int polled;
      try {
        polled = (int) pollCq.invokeExact(cq, entries, wcs);
      } catch (Throwable e) {
        throw Foreign.unexpected(e);
      }
      if (polled < 0) {
        throw new IOException("ibv_poll_cq returned " + polled);
      }
      return polled;
    }

    void reqNotify(long cq, boolean solicitedOnly) throws IOException {
      try {
        check("ibv_req_notify_cq", (int) reqNotify.invokeExact(cq, solicitedOnly ? 1 : 0));
      } catch (IOException e) {
        throw e;
      } catch (Throwable e) {
        throw Foreign.unexpected(e);
      }
    }

    void postSend(long qp, long wr, long bad) throws IOException {
      int errno;
      try {
        errno = (int) postSend.invokeExact(qp, wr, bad);
      } catch (Throwable e) {
        throw Foreign.unexpected(e);
      }
      check("ibv_post_send", errno);
    }

    void postRecv(long qp, long wr, long bad) throws IOException {
      int errno;
      try {
        errno = (int) postRecv.invokeExact(qp, wr, bad);
      } catch (Throwable e) {
        throw Foreign.unexpected(e);
      }
      check("ibv_post_recv", errno);
    }
  }

  private static void check(String call, int errno) throws IOException {
    if (errno != 0) {
      throw Foreign.failed(call, Math.abs(errno));
    }
  }

  private static long pointer(String call, long result) throws IOException {
    if (result == 0) {
      throw Foreign.failed(call);
    }
    return result;
  }

  private interface Call<T> {
    T run(MemorySegment state) throws Throwable;
  }

  private static <T> T call(Call<T> call) {
    try {
      return call.run(Foreign.state());
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  long allocPd(long context) throws IOException {
    return pointer("ibv_alloc_pd", call(s -> (long) allocPd.invokeExact(s, context)));
  }

  void deallocPd(long pd) throws IOException {
    check("ibv_dealloc_pd", call(s -> (int) deallocPd.invokeExact(pd)));
  }

  long regMr(long pd, long address, long length, int access) throws IOException {
    return pointer(
        "ibv_reg_mr", call(s -> (long) regMr.invokeExact(s, pd, address, length, access)));
  }

  long regMrIova(long pd, long address, long length, long iova, int access) throws IOException {
    return pointer(
        "ibv_reg_mr_iova",
        call(s -> (long) regMrIova.invokeExact(s, pd, address, length, iova, access)));
  }

  void deregMr(long mr) throws IOException {
    check("ibv_dereg_mr", call(s -> (int) deregMr.invokeExact(mr)));
  }

  long createCompChannel(long context) throws IOException {
    return pointer(
        "ibv_create_comp_channel", call(s -> (long) createCompChannel.invokeExact(s, context)));
  }

  void destroyCompChannel(long channel) throws IOException {
    check("ibv_destroy_comp_channel", call(s -> (int) destroyCompChannel.invokeExact(channel)));
  }

  long createCq(long context, int entries, long channel, int vector) throws IOException {
    return pointer(
        "ibv_create_cq",
        call(s -> (long) createCq.invokeExact(s, context, entries, 0L, channel, vector)));
  }

  void destroyCq(long cq) throws IOException {
    check("ibv_destroy_cq", call(s -> (int) destroyCq.invokeExact(cq)));
  }

  /** Blocks until there is an event, and stores it to {@code cq} and {@code context}. */
  void getCqEvent(long channel, long cq, long context) throws IOException {
    int result;
    try {
      result = (int) getCqEvent.invokeExact(Foreign.state(), channel, cq, context);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
    if (result != 0) {
      throw Foreign.failed("ibv_get_cq_event");
    }
  }

  void ackCqEvents(long cq, int count) {
    try {
      ackCqEvents.invokeExact(cq, count);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  long createQp(long pd, long init) throws IOException {
    return pointer("ibv_create_qp", call(s -> (long) createQp.invokeExact(s, pd, init)));
  }

  void modifyQp(long qp, long attributes, int mask) throws IOException {
    check("ibv_modify_qp", call(s -> (int) modifyQp.invokeExact(qp, attributes, mask)));
  }

  void destroyQp(long qp) throws IOException {
    check("ibv_destroy_qp", call(s -> (int) destroyQp.invokeExact(qp)));
  }

  /** The {@code ibv_qp_ex} of a queue pair that was made with more abilities. */
  long toExtended(long qp) throws IOException {
    long extended = call(s -> (long) toExtended.invokeExact(qp));
    Foreign.requireLayout("ibv_qp_ex", extended == qp);
    return extended;
  }

  String deviceName(long context) {
    long device = MEMORY.get(LONG, context + Structs.Context.DEVICE);
    return MEMORY.getString(call(s -> (long) deviceName.invokeExact(device)));
  }
}
