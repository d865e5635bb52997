package io.erda.simulation;

import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * One end of a simulated connection, with its work on the way to the other end.
 *
 * <p>The states of {@link PostedWork}: posted (unissued while a fence holds it, {@link SendQueue})
 * → arrived at the responder's NIC → pieces land or are fetched ({@link Responder}) → done →
 * completion, in the order posted. Messages are delivered in between ({@link MessageDelivery}).
 * {@link Severing} decides about all that when the connection ends.
 */
final class SimulatedQueuePair implements QueuePair {
  private static final int UNFENCED_NS_LOG2_MIN = 20;
  private static final int UNFENCED_NS_LOG2_MAX = 28;

  final SimulatedDevice device;

  /** The data of the requester's connection request. */
  final MemorySegment request;

  private final SimulatedNetwork network;
  private final Hops hops;
  private final String address;
  private final ConnectionEnd end;
  private final Reach reach;
  private final SendQueue sends;
  private final MessageDelivery messages;
  private final Responder responder;
  private final ReadInCall readInCall;
  private final BorrowedMemory borrowed;
  private final Severing severing;
  private final SimulatedClaims claims = new SimulatedClaims();

  /** Null until they are connected. */
  private SimulatedQueuePair peer;

  private MemorySegment privateData = MemorySegment.ofArray(new long[0]);

  private SimulatedQueuePair(SimulatedDevice device, String address, MemorySegment request) {
    this.device = device;
    this.address = address;
    this.request = request;
    network = device.network;
    hops = network.hops;
    Traffic traffic = device.traffic;
    SimulatedCompletions completions = new SimulatedCompletions(device::activity);
    end = new ConnectionEnd(device, traffic, completions, hops.model.receiveDepth());
    reach = new Reach(end);
    sends = new SendQueue(hops, completions, this::arrive);
    messages = new MessageDelivery(hops, reach, traffic, sends);
    responder =
        new Responder(hops, reach, traffic, sends, network.keys, network.lateStores, messages);
    readInCall = new ReadInCall(hops, reach, network.keys, traffic, device::isCrashed);
    borrowed = new BorrowedMemory(hops, end, reach, network, device::isCrashed);
    severing = new Severing(hops, reach, sends, responder, messages, network.lateStores);
  }

  /** A requester, whose request is on its way. */
  SimulatedQueuePair(
      SimulatedDevice device, String address, MemorySegment request, long timeoutNs) {
    this(device, address, request);
    hops.time.after(hops.thereNs(), this::requestArrives);
    hops.time.after(timeoutNs, () -> decided(Status.TIMEOUT, null, MemorySegment.NULL));
  }

  /** A responder, connected from the start. */
  SimulatedQueuePair(SimulatedDevice device, SimulatedQueuePair requester) {
    this(device, requester.device.name(), MemorySegment.NULL);
    connect(requester);
  }

  private void connect(SimulatedQueuePair other) {
    peer = other;
    end.connect();
    reach.connect(other.end);
    borrowed.connected();
  }

  private void arrive(PostedWork work) {
    responder.arrive(work);
  }

  // Connecting.

  boolean isConnecting() {
    return end.isConnecting();
  }

  private void requestArrives() {
    if (!isConnecting()) {
      return;
    }
    SimulatedListener listener = network.listener(address);
    if (listener == null || listener.isClosed()) {
      decideLater(Status.UNREACHABLE, null, MemorySegment.NULL);
    } else {
      listener.arrive(this);
    }
  }

  /** Sends the answer. Work that the responder posts at once arrives after it. */
  void decideLater(int status, SimulatedQueuePair responder, MemorySegment data) {
    long atNs = hops.time.nowNs() + hops.backNs();
    if (responder != null) {
      responder.sends.arriveAfter(atNs);
    }
    hops.time.at(atNs, () -> decided(status, responder, data));
  }

  private void decided(int status, SimulatedQueuePair responder, MemorySegment data) {
    if (!isConnecting()) {
      if (responder != null) {
        responder.endLater();
      }
      return;
    }
    if (status == Status.SUCCESS && !responder.end.isConnected()) {
      // The responder accepted and left again while the answer was under way.
      decided(Status.UNREACHABLE, null, data);
      return;
    }
    privateData = data.byteSize() == 0 ? privateData : data;
    if (status == Status.SUCCESS) {
      connect(responder);
      network.connected(this);
      end.completions.event(Opcode.CONNECT, status);
    } else {
      end.end();
      end.completions.event(Opcode.CONNECT, status);
      end.receives.flush();
    }
  }

  // Posting.

  /** Copies a work request that names memory of its own device. */
  private PostedWork keep(Work asked) {
    assert asked.isWellFormed() : asked;
    MemorySegment local =
        asked.hasLocal() ? check(asked.local, asked.localOffset, asked.length) : null;
    return new PostedWork(asked, local);
  }

  /** The memory of a region of this device, in which the range must lie. */
  private MemorySegment check(MemoryRegion local, long offset, int length) {
    MemorySegment memory = SimulatedRegion.own(local, device).memory();
    Objects.checkFromIndexSize(offset, length, memory.byteSize());
    return memory;
  }

  @Override
  public boolean readNow(Work read) {
    PostedWork work = keep(read);
    return readInCall.mayBegin(sends.isIdle()) && readInCall.read(work);
  }

  @Override
  public MemorySegment memory(long remoteKey, boolean toStore) {
    return borrowed.memory(remoteKey, toStore);
  }

  @Override
  public IntConsumer between() {
    return borrowed;
  }

  @Override
  public boolean post(Work asked) {
    if (asked.opcode == Opcode.SEND && asked.length > hops.model.messageBytesMax()) {
      throw new IllegalArgumentException(
          "message of " + asked.length + " bytes; at most " + hops.model.messageBytesMax());
    }
    PostedWork work = keep(asked);
    checkOpen();
    if (isConnecting() || sends.isFull()) {
      return false;
    }
    boolean strikes = device.strikes();
    if (strikes && hops.random.nextBoolean()) {
      throw new SimulatedCrash("requested, before a post");
    }
    if (work.isMessage()) {
      sends.number(work);
    }
    if (isFlushedAtOnce(work)) {
      end.completions.workEnded(work, Status.FLUSHED);
    } else {
      sends.post(work);
    }
    if (strikes) {
      throw new SimulatedCrash("requested, after a post");
    }
    return true;
  }

  private boolean isFlushedAtOnce(PostedWork work) {
    boolean outlives = work.opcode == Opcode.READ && reach.readsOutlive();
    return end.hasEnded() && !outlives || end.claims.isWithdrawn() && !work.isNonPosted();
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    checkOpen();
    MemorySegment memory = check(local, localOffset, length);
    if (end.hasEnded()) {
      end.completions.receiveFlushed(wrId);
      return true;
    }
    if (!end.receives.post(wrId, memory, localOffset, length)) {
      return false;
    }
    if (peer != null) {
      peer.messages.deliver();
    }
    return true;
  }

  private void checkOpen() {
    device.requireAlive();
    if (end.isClosed()) {
      throw new IllegalStateException("the queue pair is closed");
    }
  }

  @Override
  public int poll(CompletionHandler handler, int limit) {
    return device.holdsCompletions() ? 0 : end.completions.poll(handler, limit);
  }

  @Override
  public boolean arm() {
    throw new UnsupportedOperationException("simulated devices don't wait: step the virtual time");
  }

  @Override
  public boolean await(long timeoutNs) {
    throw new UnsupportedOperationException("simulated devices don't wait: step the virtual time");
  }

  @Override
  public MemorySegment privateData() {
    return privateData;
  }

  @Override
  public String peer() {
    return address;
  }

  // Work that may still take effect at the end.

  @Override
  public Claims claims() {
    return claims;
  }

  private final class SimulatedClaims implements Claims {
    /**
     * Whether both ends use the same memory, so that it is definite at each moment whether a
     * message takes effect. Otherwise messages that the other end's NIC has received can't be taken
     * back.
     */
    private boolean isExact() {
      return hops.model.readsOutlivePeer();
    }

    @Override
    public long sent() {
      return sends.messages();
    }

    @Override
    public boolean claim() {
      end.claims.claim(end.completions.messagePolled());
      return isPeerThere();
    }

    /** {@inheritDoc} The death of the peer's process is noticed late. */
    @Override
    public boolean isPeerThere() {
      return end.isConnected() && !(isExact() && peer.end.hasLeft());
    }

    @Override
    public void finish() {
      end.claims.finish();
    }

    @Override
    public void withdraw() {
      if (end.claims.isWithdrawn() || end.isClosed()) {
        return;
      }
      end.claims.withdraw(claimedByPeer());
      if (end.isConnected()) {
        peer.endLater();
      }
    }

    private long claimedByPeer() {
      if (!isExact()) {
        return Long.MAX_VALUE;
      }
      return peer == null ? 0 : peer.end.claims.claimed();
    }

    @Override
    public long claimed() {
      return end.claims.claimedThen();
    }

    @Override
    public long finished() {
      return isExact() && peer != null ? peer.end.claims.finished() : 0;
    }
  }

  // The end.

  /** Makes this end notice after a while that the other one is gone. */
  private void endLater() {
    long ns = hops.ns(hops.model.detectNs());
    if (reach.isUnfenced() || network.lendsMemory() && hops.random.nextBoolean()) {
      // The process of this end checks the peer only when it needs it, or when it goes on after a
      // stop.
      int log2 = hops.random.nextInt(UNFENCED_NS_LOG2_MIN, UNFENCED_NS_LOG2_MAX);
      ns += hops.random.nextLong(1L << log2);
    }
    hops.time.after(ns, this::noticeEnd);
  }

  /**
   * Handles that this end notices the loss of the other one, whose posted work has no effect here
   * any more.
   */
  private void noticeEnd() {
    if (!end.isConnected()) {
      return;
    }
    end.end();
    peer.severing.cutShort();
    network.disconnected(this);
    severing.leaveBehind(sends.flush());
    end.receives.flush();
    end.completions.event(Opcode.DISCONNECT, Status.SUCCESS);
  }

  @Override
  public void close() {
    if (end.isClosed()) {
      return;
    }
    claims.withdraw();
    if (reach.isLost()) {
      // A poster that was stopped in the middle of a store did not notice yet.
      severing.cutShort();
    } else if (hops.random.nextBoolean()) {
      severing.leaveMessages();
    } else {
      severing.stop();
    }
    depart();
    if (peer != null) {
      peer.severing.cutShort();
    }
  }

  private void depart() {
    boolean wasConnected = end.isConnected();
    end.close();
    sends.drain();
    network.disconnected(this);
    device.forget(this);
    if (wasConnected) {
      peer.endLater();
    }
  }

  /**
   * Breaks the wire: a part of both ends' posted work arrives, until each end notices at its own
   * time.
   */
  void breakOff() {
    network.disconnected(this);
    severing.cutOff();
    peer.severing.cutOff();
    endLater();
    peer.endLater();
  }

  /** Notes that the process of this end died. */
  void crash(boolean receivedLands, boolean readsGoOn) {
    if (peer != null) {
      peer.severing.landAtCrash(receivedLands);
      boolean unfenced = readsGoOn && peer.end.isConnected() && network.unfenced(peer);
      peer.severing.stopAtCrash(readsGoOn, unfenced);
    }
    end.crash();
    severing.cutOff();
    severing.leaveBehind(sends.drain());
    depart();
  }

  /** Notes that the memory that this end stores into was opened by another process. */
  void fence() {
    if (reach.isUnfenced()) {
      severing.fence();
      endLater();
    }
  }

  /** Notes that the power of the host fails that this end shares with the memory. */
  void fail() {
    severing.fail();
  }
}
