package io.erda.verbs.ffm;

import static io.erda.verbs.ffm.Foreign.INT;
import static io.erda.verbs.ffm.Foreign.LONG;
import static io.erda.verbs.ffm.Foreign.MEMORY;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** DiSNI's connection manager over librdmacm. */
public final class FfmCm extends RdmaCm {
  private static final int SOCKADDR_BYTES = 28;
  private static final short AF_INET = 2;
  private static final short AF_INET6 = 10;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private final Librdmacm library;
  private final Map<Long, Pointers.CmId> ids = new ConcurrentHashMap<>();
  private final Map<Long, Pointers.Context> contexts = new ConcurrentHashMap<>();

  FfmCm(Librdmacm library) {
    this.library = library;
  }

  Librdmacm library() {
    return library;
  }

  /** The RDMA devices of this machine, opened. */
  public List<IbvContext> devices() throws IOException {
    long scratch = Pointers.Scratch.zeroed();
    long devices = library.getDevices(scratch);
    List<IbvContext> all = new ArrayList<>();
    try {
      int count = MEMORY.get(INT, scratch);
      for (int i = 0; i < count; i++) {
        all.add(context(MEMORY.get(LONG, devices + 8L * i)));
      }
    } finally {
      library.freeDevices(devices);
    }
    return all;
  }

  private Pointers.Context context(long pointer) throws IOException {
    Pointers.Context known = contexts.get(pointer);
    if (known == null) {
      known = new Pointers.Context(pointer);
      contexts.put(pointer, known);
    }
    return known;
  }

  @Override
  public RdmaEventChannel createEventChannel() throws IOException {
    return new Pointers.Channel(library.createEventChannel());
  }

  @Override
  public int destroyEventChannel(RdmaEventChannel channel) {
    library.destroyEventChannel(((Pointers.Channel) channel).pointer);
    return 0;
  }

  @Override
  public RdmaCmId createId(RdmaEventChannel channel, short portSpace) throws IOException {
    long scratch = Pointers.Scratch.zeroed();
    library.createId(((Pointers.Channel) channel).pointer, scratch, portSpace & 0xffff);
    return id(channel, MEMORY.get(LONG, scratch));
  }

  private Pointers.CmId id(RdmaEventChannel channel, long pointer) throws IOException {
    if (pointer == 0) {
      return null;
    }
    Pointers.CmId known = ids.get(pointer);
    if (known == null) {
      known = new Pointers.CmId(channel, pointer);
      ids.put(pointer, known);
    }
    if (known.getVerbs() == null) {
      long context = MEMORY.get(LONG, pointer + Structs.CmId.VERBS);
      if (context != 0) {
        known.hasVerbs(context(context));
      }
    }
    return known;
  }

  /** Writes {@code attributes} to this thread's scratch memory. */
  static long initAttributes(IbvQPInitAttr attributes) {
    long to = Pointers.Scratch.zeroed();
    MEMORY.set(LONG, to + Structs.QpInit.SEND_CQ, ((Pointers.Cq) attributes.getSend_cq()).pointer);
    MEMORY.set(LONG, to + Structs.QpInit.RECV_CQ, ((Pointers.Cq) attributes.getRecv_cq()).pointer);
    MEMORY.set(INT, to + Structs.QpInit.MAX_SEND_WR, attributes.cap().getMax_send_wr());
    MEMORY.set(INT, to + Structs.QpInit.MAX_RECV_WR, attributes.cap().getMax_recv_wr());
    MEMORY.set(INT, to + Structs.QpInit.MAX_SEND_SGE, attributes.cap().getMax_send_sge());
    MEMORY.set(INT, to + Structs.QpInit.MAX_RECV_SGE, attributes.cap().getMax_recv_sge());
    MEMORY.set(INT, to + Structs.QpInit.MAX_INLINE, attributes.cap().getMax_inline_data());
    MEMORY.set(INT, to + Structs.QpInit.TYPE, attributes.getQp_type());
    MEMORY.set(INT, to + Structs.QpInit.SIGNAL_ALL, attributes.getSq_sig_all());
    return to;
  }

  @Override
  public IbvQP createQP(RdmaCmId id, IbvPd pd, IbvQPInitAttr attributes) throws IOException {
    Pointers.CmId of = (Pointers.CmId) id;
    library.createQp(of.pointer, ((Pointers.Pd) pd).pointer, initAttributes(attributes));
    long pointer = MEMORY.get(LONG, of.pointer + Structs.CmId.QP);
    IbvQP qp = new Pointers.Qp(pointer, pd, attributes.getSend_cq(), attributes.getRecv_cq());
    of.hasQp(qp);
    return qp;
  }

  @Override
  public int destroyQP(RdmaCmId id) {
    Pointers.CmId of = (Pointers.CmId) id;
    if (of.getQp() instanceof Pointers.Qp qp && qp.isOpen()) {
      qp.closed();
      library.destroyQp(of.pointer);
    }
    return 0;
  }

  @Override
  public void bindAddr(RdmaCmId id, SocketAddress address) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      library.bindAddr(((Pointers.CmId) id).pointer, sockaddr(arena, address));
    }
    id(id.getCmChannel(), ((Pointers.CmId) id).pointer);
  }

  @Override
  public void listen(RdmaCmId id, int backlog) throws IOException {
    library.listen(((Pointers.CmId) id).pointer, backlog);
  }

  @Override
  public void resolveAddr(
      RdmaCmId id, SocketAddress source, SocketAddress destination, int timeoutMs)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      library.resolveAddr(
          ((Pointers.CmId) id).pointer,
          source == null ? 0 : sockaddr(arena, source),
          sockaddr(arena, destination),
          timeoutMs);
    }
  }

  private static long sockaddr(Arena arena, SocketAddress address) throws IOException {
    if (!(address instanceof InetSocketAddress inet) || inet.isUnresolved()) {
      throw new IOException("no address of a host: " + address);
    }
    long to = arena.allocate(SOCKADDR_BYTES, 8).address();
    boolean four = inet.getAddress() instanceof Inet4Address;
    byte[] bytes = inet.getAddress().getAddress();
    MEMORY.set(Foreign.SHORT, to, four ? AF_INET : AF_INET6);
    MEMORY.set(BYTE, to + 2, (byte) (inet.getPort() >> 8));
    MEMORY.set(BYTE, to + 3, (byte) inet.getPort());
    for (int i = 0; i < bytes.length; i++) {
      MEMORY.set(BYTE, to + (four ? 4 : 8) + i, bytes[i]);
    }
    return to;
  }

  private static InetSocketAddress address(long from) throws IOException {
    short family = MEMORY.get(Foreign.SHORT, from);
    if (family != AF_INET && family != AF_INET6) {
      return null;
    }
    int port = (MEMORY.get(BYTE, from + 2) & 0xff) << 8 | MEMORY.get(BYTE, from + 3) & 0xff;
    byte[] bytes = new byte[family == AF_INET ? 4 : 16];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = MEMORY.get(BYTE, from + (family == AF_INET ? 4 : 8) + i);
    }
    return new InetSocketAddress(InetAddress.getByAddress(bytes), port);
  }

  @Override
  public void resolveRoute(RdmaCmId id, int timeoutMs) throws IOException {
    library.resolveRoute(((Pointers.CmId) id).pointer, timeoutMs);
  }

  /** Returns null when {@code timeoutMs} passed; -1 waits without end. */
  @Override
  public RdmaCmEvent getCmEvent(RdmaEventChannel channel, int timeoutMs) throws IOException {
    if (!Waiter.isReadable(channel.getFd(), timeoutMs)) {
      return null;
    }
    long scratch = Pointers.Scratch.zeroed();
    library.getCmEvent(((Pointers.Channel) channel).pointer, scratch);
    long event = MEMORY.get(LONG, scratch);
    return new Pointers.CmEvent(
        event,
        MEMORY.get(INT, event + Structs.CmEvent.EVENT),
        MEMORY.get(INT, event + Structs.CmEvent.STATUS),
        id(channel, MEMORY.get(LONG, event + Structs.CmEvent.LISTEN_ID)),
        id(channel, MEMORY.get(LONG, event + Structs.CmEvent.ID)));
  }

  @Override
  public int ackCmEvent(RdmaCmEvent event) {
    try {
      library.ackCmEvent(((Pointers.CmEvent) event).pointer);
      return 0;
    } catch (IOException e) {
      return -1;
    }
  }

  @Override
  public void connect(RdmaCmId id, RdmaConnParam parameters) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      library.connect(((Pointers.CmId) id).pointer, parameters(arena, parameters));
    }
  }

  @Override
  public void accept(RdmaCmId id, RdmaConnParam parameters) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      library.accept(((Pointers.CmId) id).pointer, parameters(arena, parameters));
    }
  }

  private static long parameters(Arena arena, RdmaConnParam from) {
    long to = arena.allocate(Structs.ConnParam.BYTES, 8).address();
    MEMORY.set(LONG, to + Structs.ConnParam.PRIVATE_DATA, from.getPrivate_data());
    MEMORY.set(BYTE, to + Structs.ConnParam.PRIVATE_DATA_LEN, from.getPrivate_data_len());
    MEMORY.set(BYTE, to + Structs.ConnParam.RESPONDER_RESOURCES, from.getResponder_resources());
    MEMORY.set(BYTE, to + Structs.ConnParam.INITIATOR_DEPTH, from.getInitiator_depth());
    MEMORY.set(BYTE, to + Structs.ConnParam.FLOW_CONTROL, from.getFlow_control());
    MEMORY.set(BYTE, to + Structs.ConnParam.RETRY_COUNT, from.getRetry_count());
    MEMORY.set(BYTE, to + Structs.ConnParam.RNR_RETRY_COUNT, from.getRnr_retry_count());
    return to;
  }

  @Override
  public int disconnect(RdmaCmId id) throws IOException {
    library.disconnect(((Pointers.CmId) id).pointer);
    return 0;
  }

  @Override
  public int destroyCmId(RdmaCmId id) throws IOException {
    Pointers.CmId of = (Pointers.CmId) id;
    of.closed();
    ids.remove(of.pointer);
    library.destroyId(of.pointer);
    return 0;
  }

  @Override
  public int destroyEp(RdmaCmId id) {
    Pointers.CmId of = (Pointers.CmId) id;
    of.closed();
    ids.remove(of.pointer);
    library.destroyEp(of.pointer);
    return 0;
  }

  @Override
  public SocketAddress getSrcAddr(RdmaCmId id) throws IOException {
    return address(((Pointers.CmId) id).pointer + Structs.CmId.SRC_ADDR);
  }

  @Override
  public SocketAddress getDstAddr(RdmaCmId id) throws IOException {
    return address(((Pointers.CmId) id).pointer + Structs.CmId.DST_ADDR);
  }
}
