package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.function;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls of librdmacm.so.1. A failed call throws, with its name and {@code errno}; addresses of
 * structs are {@code long}s.
 */
final class Librdmacm {
  private final MethodHandle createEventChannel;
  private final MethodHandle destroyEventChannel;
  private final MethodHandle createId;
  private final MethodHandle destroyId;
  private final MethodHandle createQp;
  private final MethodHandle destroyQp;
  private final MethodHandle bindAddr;
  private final MethodHandle listen;
  private final MethodHandle resolveAddr;
  private final MethodHandle resolveRoute;
  private final MethodHandle connect;
  private final MethodHandle accept;
  private final MethodHandle disconnect;
  private final MethodHandle getCmEvent;
  private final MethodHandle ackCmEvent;
  private final MethodHandle initQpAttr;
  private final MethodHandle getDevices;
  private final MethodHandle freeDevices;
  private final MethodHandle destroyEp;

  Librdmacm() throws IOException {
    Foreign library = Foreign.load("librdmacm.so.1");
    createEventChannel = library.withErrno("rdma_create_event_channel", function(LONG));
    destroyEventChannel =
        library.plain("rdma_destroy_event_channel", FunctionDescriptor.ofVoid(LONG));
    createId = library.withErrno("rdma_create_id", function(INT, LONG, LONG, LONG, INT));
    destroyId = library.withErrno("rdma_destroy_id", function(INT, LONG));
    createQp = library.withErrno("rdma_create_qp", function(INT, LONG, LONG, LONG));
    destroyQp = library.plain("rdma_destroy_qp", FunctionDescriptor.ofVoid(LONG));
    bindAddr = library.withErrno("rdma_bind_addr", function(INT, LONG, LONG));
    listen = library.withErrno("rdma_listen", function(INT, LONG, INT));
    resolveAddr = library.withErrno("rdma_resolve_addr", function(INT, LONG, LONG, LONG, INT));
    resolveRoute = library.withErrno("rdma_resolve_route", function(INT, LONG, INT));
    connect = library.withErrno("rdma_connect", function(INT, LONG, LONG));
    accept = library.withErrno("rdma_accept", function(INT, LONG, LONG));
    disconnect = library.withErrno("rdma_disconnect", function(INT, LONG));
    getCmEvent = library.withErrno("rdma_get_cm_event", function(INT, LONG, LONG));
    ackCmEvent = library.withErrno("rdma_ack_cm_event", function(INT, LONG));
    initQpAttr = library.withErrno("rdma_init_qp_attr", function(INT, LONG, LONG, LONG));
    getDevices = library.withErrno("rdma_get_devices", function(LONG, LONG));
    freeDevices = library.plain("rdma_free_devices", FunctionDescriptor.ofVoid(LONG));
    destroyEp = library.plain("rdma_destroy_ep", FunctionDescriptor.ofVoid(LONG));
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

  private static void check(String name, int result) throws IOException {
    if (result != 0) {
      throw Foreign.failed(name);
    }
  }

  private static void run(MethodHandle handle, long argument) {
    try {
      handle.invokeExact(argument);
    } catch (Throwable e) {
      throw Foreign.unexpected(e);
    }
  }

  long createEventChannel() throws IOException {
    long channel = call(s -> (long) createEventChannel.invokeExact(s));
    if (channel == 0) {
      throw Foreign.failed("rdma_create_event_channel");
    }
    return channel;
  }

  void destroyEventChannel(long channel) {
    run(destroyEventChannel, channel);
  }

  void createId(long channel, long id, int portSpace) throws IOException {
    check("rdma_create_id", call(s -> (int) createId.invokeExact(s, channel, id, 0L, portSpace)));
  }

  void destroyId(long id) throws IOException {
    check("rdma_destroy_id", call(s -> (int) destroyId.invokeExact(s, id)));
  }

  void createQp(long id, long pd, long init) throws IOException {
    check("rdma_create_qp", call(s -> (int) createQp.invokeExact(s, id, pd, init)));
  }

  void destroyQp(long id) {
    run(destroyQp, id);
  }

  void destroyEp(long id) {
    run(destroyEp, id);
  }

  void bindAddr(long id, long address) throws IOException {
    check("rdma_bind_addr", call(s -> (int) bindAddr.invokeExact(s, id, address)));
  }

  void listen(long id, int backlog) throws IOException {
    check("rdma_listen", call(s -> (int) listen.invokeExact(s, id, backlog)));
  }

  void resolveAddr(long id, long source, long destination, int timeoutMs) throws IOException {
    check(
        "rdma_resolve_addr",
        call(s -> (int) resolveAddr.invokeExact(s, id, source, destination, timeoutMs)));
  }

  void resolveRoute(long id, int timeoutMs) throws IOException {
    check("rdma_resolve_route", call(s -> (int) resolveRoute.invokeExact(s, id, timeoutMs)));
  }

  void connect(long id, long parameters) throws IOException {
    check("rdma_connect", call(s -> (int) connect.invokeExact(s, id, parameters)));
  }

  void accept(long id, long parameters) throws IOException {
    check("rdma_accept", call(s -> (int) accept.invokeExact(s, id, parameters)));
  }

  void disconnect(long id) throws IOException {
    check("rdma_disconnect", call(s -> (int) disconnect.invokeExact(s, id)));
  }

  void getCmEvent(long channel, long event) throws IOException {
    check("rdma_get_cm_event", call(s -> (int) getCmEvent.invokeExact(s, channel, event)));
  }

  void ackCmEvent(long event) throws IOException {
    check("rdma_ack_cm_event", call(s -> (int) ackCmEvent.invokeExact(s, event)));
  }

  /** Fills {@code attributes} for the state in it, and {@code mask}. */
  void initQpAttr(long id, long attributes, long mask) throws IOException {
    check("rdma_init_qp_attr", call(s -> (int) initQpAttr.invokeExact(s, id, attributes, mask)));
  }

  /** An array of contexts, opened for the life of the process; {@code count} gets how many. */
  long getDevices(long count) throws IOException {
    long devices = call(s -> (long) getDevices.invokeExact(s, count));
    if (devices == 0) {
      throw Foreign.failed("rdma_get_devices");
    }
    return devices;
  }

  void freeDevices(long devices) {
    run(freeDevices, devices);
  }
}
