package io.erda.simulation;

import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;

/**
 * One end of a simulated connection, with what is on the way from it to the other end.
 *
 * <p>Work goes through: posted (unissued while a fence holds it) → arrived at the responder's NIC →
 * pieces land or are fetched → done → completion, in the order posted. {@code stopped} work takes
 * no effect any more, whatever events of it are still to come.
 */
final class SimulatedQueuePair implements QueuePair {
  private static final int READ_NOW_REFUSAL_ODDS = 8;
  private static final int UNFENCED_NS_LOG2_MIN = 20;
  private static final int UNFENCED_NS_LOG2_MAX = 28;

  private enum Phase {
    CONNECTING,
    CONNECTED,
    /** DISCONNECT (or a failed CONNECT) was queued. */
    ENDED,
    CLOSED
  }

  private record Completion(
      long wrId, int opcode, int status, int byteLength, int imm, boolean ofOwnWork, long message) {
    Completion(long wrId, int opcode, int status, int byteLength, int imm, boolean ofOwnWork) {
      this(wrId, opcode, status, byteLength, imm, ofOwnWork, 0);
    }
  }

  private record Receive(long wrId, SimulatedRegion region, long offset, int length) {}

  final SimulatedDevice device;
  private final SimulatedNetwork network;
  private final VirtualTime time;
  private final RandomGenerator random;
  private final NetworkModel model;
  private final String address;

  /** What a requester sent along. */
  final MemorySegment request;

  private Phase phase;
  private SimulatedQueuePair peer;
  private MemorySegment privateData = MemorySegment.ofArray(new long[0]);

  /** The peer crashed, and READs may outlive it. */
  private boolean peerCrashed;

  private final ArrayDeque<Work> unissued = new ArrayDeque<>();
  private final ArrayDeque<Work> outstanding = new ArrayDeque<>();
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private final ArrayDeque<Receive> receives = new ArrayDeque<>();

  /** Outstanding, and completions of own work that were not polled. */
  private int occupied;

  private int nonPostedOutstanding;

  // At the responder, for what this end posted.
  private long lastArrivalNs;
  private long allLandedNs;
  private long lastNonPostedNs;
  private long lastMessageNs;
  private final List<Work> landing = new ArrayList<>();

  /** Reported as flushed, or nobody is left to report to, and yet on the way. */
  private final List<Work> stragglers = new ArrayList<>();

  /** The wire between the ends is gone: what is posted now goes nowhere. */
  private boolean lost;

  private final ArrayDeque<Work> messages = new ArrayDeque<>();

  /**
   * The peer's process died and nobody has opened its memory since: what this end stores lands all
   * the same, as long as it does not notice.
   */
  private boolean unfenced;

  // Messages by their numbers: see QueuePair.
  private long posted;
  private long polled;
  private long claimed;
  private long settled;
  private long claimedThen = Long.MAX_VALUE;
  private boolean withdrawn;
  private boolean crashed;

  private SimulatedQueuePair(
      SimulatedDevice device, String address, MemorySegment request, Phase phase) {
    this.device = device;
    this.network = device.network;
    this.time = network.time;
    this.random = network.random;
    this.model = network.model;
    this.address = address;
    this.request = request;
    this.phase = phase;
  }

  /** A requester, whose request sets off. */
  SimulatedQueuePair(
      SimulatedDevice device, String address, MemorySegment request, long timeoutNs) {
    this(device, address, request, Phase.CONNECTING);
    time.after(hops(), this::requestArrives);
    time.after(timeoutNs, () -> decided(Status.TIMEOUT, null, MemorySegment.NULL));
  }

  /** A responder, connected from the start. */
  SimulatedQueuePair(SimulatedDevice device, SimulatedQueuePair requester) {
    this(device, requester.device.name(), MemorySegment.NULL, Phase.CONNECTED);
    this.peer = requester;
  }

  private long hops() {
    return network.hop(model.postNs()) + network.hop(model.wireNs()) + network.hop(model.landNs());
  }

  private long wayBack() {
    return network.hop(model.wireNs()) + network.hop(model.completionNs());
  }

  // Connecting

  boolean isConnecting() {
    return phase == Phase.CONNECTING;
  }

  private void requestArrives() {
    if (phase != Phase.CONNECTING) {
      return;
    }
    SimulatedListener listener = network.listener(address);
    if (listener == null || listener.isClosed()) {
      decideLater(Status.UNREACHABLE, null, MemorySegment.NULL);
    } else {
      listener.arrive(this);
    }
  }

  /** The answer sets off. Whatever the responder posts at once arrives after it. */
  void decideLater(int status, SimulatedQueuePair responder, MemorySegment data) {
    long at = time.nowNs() + wayBack();
    if (responder != null) {
      responder.lastArrivalNs = at;
    }
    time.at(at, () -> decided(status, responder, data));
  }

  private void decided(int status, SimulatedQueuePair responder, MemorySegment data) {
    if (phase != Phase.CONNECTING) {
      if (responder != null) {
        responder.endLater();
      }
      return;
    }
    if (status == Status.SUCCESS && responder.phase != Phase.CONNECTED) {
      // Accepted and gone again while the answer was under way.
      decided(Status.UNREACHABLE, null, data);
      return;
    }
    privateData = data.byteSize() == 0 ? privateData : data;
    phase = status == Status.SUCCESS ? Phase.CONNECTED : Phase.ENDED;
    peer = responder;
    if (status == Status.SUCCESS) {
      network.connected(this);
    }
    push(new Completion(0, Opcode.CONNECT, status, 0, 0, false));
    if (status != Status.SUCCESS) {
      flushReceives();
    }
  }

  // Posting

  @Override
  public boolean postRead(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    return post(
        new Work(
            wrId,
            Opcode.READ,
            check(local, localOffset, length),
            localOffset,
            remoteKey,
            remoteOffset,
            length,
            flags));
  }

  /**
   * As where both ends are of one host: loads of the caller, piece by piece, while the others go
   * on. Refused now and then, and while anything posted is under way, which it would overtake.
   */
  @Override
  public boolean readNow(
      MemoryRegion local, long localOffset, long remoteKey, long remoteOffset, int length) {
    MemorySegment into = check(local, localOffset, length);
    if (!model.readsOutlivePeer()
        || !isWhole()
        || !outstanding.isEmpty()
        || random.nextInt(READ_NOW_REFUSAL_ODDS) == 0) {
      return false;
    }
    Work work =
        new Work(0, Opcode.READ, into, localOffset, remoteKey, remoteOffset, length, Flags.NONE);
    work.region = resolve(work);
    if (work.region == null) {
      return false;
    }
    work.cut(random.nextInt(1, model.piecesMax() + 1), random.nextInt());
    for (int piece = 0; piece < work.pieces; piece++) {
      othersGoOn();
      if (!isWhole() || !work.region.registered) {
        return false;
      }
      device.countMoved(work, work.move(piece));
    }
    othersGoOn();
    return isWhole() && work.region.registered;
  }

  private boolean isWhole() {
    return phase == Phase.CONNECTED && !lost && peer.phase == Phase.CONNECTED;
  }

  private void othersGoOn() {
    if (random.nextBoolean()) {
      time.runFor(random.nextLong(model.spreadNs() + 1));
    }
    if (device.isCrashed()) {
      throw new SimulatedCrash("the process ended while it read");
    }
  }

  @Override
  public boolean postWrite(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    return post(
        new Work(
            wrId,
            Opcode.WRITE,
            check(local, localOffset, length),
            localOffset,
            remoteKey,
            remoteOffset,
            length,
            flags));
  }

  @Override
  public boolean postWriteImm(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int imm,
      int flags) {
    Work work =
        new Work(
            wrId,
            Opcode.WRITE_IMM,
            check(local, localOffset, length),
            localOffset,
            remoteKey,
            remoteOffset,
            length,
            flags);
    work.imm = imm;
    return post(work);
  }

  @Override
  public boolean postSend(long wrId, MemoryRegion local, long localOffset, int length, int flags) {
    if (length > model.messageBytesMax()) {
      throw new IllegalArgumentException(
          "message of " + length + " bytes; at most " + model.messageBytesMax());
    }
    return post(
        new Work(
            wrId,
            Opcode.SEND,
            check(local, localOffset, length),
            localOffset,
            0,
            0,
            length,
            flags));
  }

  @Override
  public boolean postFlush(long wrId, long remoteKey, long remoteOffset, int length, int flags) {
    return post(new Work(wrId, Opcode.FLUSH, null, 0, remoteKey, remoteOffset, length, flags));
  }

  @Override
  public boolean postAtomicWrite(
      long wrId, long remoteKey, long remoteOffset, long value, int flags) {
    Work work =
        new Work(wrId, Opcode.ATOMIC_WRITE, null, 0, remoteKey, remoteOffset, Long.BYTES, flags);
    work.value = value;
    return post(work);
  }

  @Override
  public boolean postCompareAndSwap(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      long expected,
      long value,
      int flags) {
    Work work =
        new Work(
            wrId,
            Opcode.COMPARE_AND_SWAP,
            check(local, localOffset, Long.BYTES),
            localOffset,
            remoteKey,
            remoteOffset,
            Long.BYTES,
            flags);
    work.expected = expected;
    work.value = value;
    return post(work);
  }

  private MemorySegment check(MemoryRegion local, long offset, int length) {
    MemorySegment memory = device.own(local).memory();
    Objects.checkFromIndexSize(offset, length, memory.byteSize());
    return memory;
  }

  private boolean post(Work work) {
    checkOpen();
    if (phase == Phase.CONNECTING || occupied >= model.queueDepth()) {
      return false;
    }
    boolean strikes = device.strikes();
    if (strikes && random.nextBoolean()) {
      throw new SimulatedCrash("requested, before a post");
    }
    occupied++;
    if (work.isMessage()) {
      work.message = ++posted;
    }
    boolean outlives = work.opcode == Opcode.READ && peerCrashed;
    if (phase == Phase.ENDED && !outlives || withdrawn && !work.isNonPosted()) {
      push(new Completion(work.wrId, work.opcode, Status.FLUSHED, 0, 0, true));
      return true;
    }
    outstanding.add(work);
    unissued.add(work);
    issue();
    if (strikes) {
      throw new SimulatedCrash("requested, after a post");
    }
    return true;
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    checkOpen();
    check(local, localOffset, length);
    if (phase == Phase.ENDED) {
      push(new Completion(wrId, Opcode.RECEIVE, Status.FLUSHED, 0, 0, false));
      return true;
    }
    if (receives.size() >= model.receiveDepth()) {
      return false;
    }
    receives.add(new Receive(wrId, (SimulatedRegion) local, localOffset, length));
    if (peer != null) {
      peer.deliver();
    }
    return true;
  }

  private void checkOpen() {
    if (device.isCrashed()) {
      // A crash that a handler met is kept until all is told, and production goes on meanwhile.
      throw new SimulatedCrash("the process has ended");
    }
    if (phase == Phase.CLOSED) {
      throw new IllegalStateException("the queue pair is closed");
    }
  }

  // The way there

  private void issue() {
    while (!unissued.isEmpty()) {
      Work work = unissued.peek();
      if (work.isFenced() && nonPostedOutstanding > 0) {
        return;
      }
      unissued.poll();
      if (work.isNonPosted()) {
        nonPostedOutstanding++;
      }
      long moved = work.isNonPosted() ? 0 : work.length * model.wireNsPerKib() >>> 10;
      long arrival =
          time.nowNs() + network.hop(model.postNs()) + network.hop(model.wireNs()) + moved;
      lastArrivalNs = Math.max(lastArrivalNs + 1, arrival);
      time.at(lastArrivalNs, () -> arrive(work));
    }
  }

  private void arrive(Work work) {
    boolean gone = lost || peer == null || peer.phase != Phase.CONNECTED;
    if (work.stopped || (gone && !work.mayArriveYet && !arrivesAtTheDead(work))) {
      work.stopped = true;
      return;
    }
    if (work.isStore()) {
      land(work);
    } else if (work.isNonPosted()) {
      execute(work);
    } else {
      if (!model.resendsMessages()) {
        work.capture();
      }
      enqueueMessage(work);
    }
  }

  private boolean arrivesAtTheDead(Work work) {
    return (work.opcode == Opcode.READ && peerCrashed)
        || (work.opcode == Opcode.WRITE && unfenced && phase == Phase.CONNECTED);
  }

  private SimulatedRegion resolve(Work work) {
    SimulatedRegion region = network.region(work.remoteKey, peer.device);
    boolean word = work.opcode == Opcode.ATOMIC_WRITE || work.opcode == Opcode.COMPARE_AND_SWAP;
    int needed =
        switch (work.opcode) {
          case Opcode.READ, Opcode.FLUSH -> Access.REMOTE_READ;
          case Opcode.COMPARE_AND_SWAP -> Access.REMOTE_ATOMIC;
          default -> Access.REMOTE_WRITE;
        };
    if (region == null || !region.allows(needed, work.remoteOffset, work.length)) {
      return null;
    }
    return word && region.phase(work.remoteOffset) != 0 ? null : region;
  }

  // WRITE

  private void land(Work work) {
    if (unfenced) {
      network.storedUnfenced();
    }
    work.region = resolve(work);
    if (work.region == null) {
      completeAt(time.nowNs() + wayBack(), work, Status.REMOTE_ACCESS);
      return;
    }
    long start = time.nowNs() + network.hop(model.landNs());
    for (Work earlier : landing) {
      if (earlier.overlaps(work)) {
        start = Math.max(start, allLandedNs + 1);
      }
    }
    landing.removeIf(earlier -> earlier.left == 0 || earlier.stopped);
    landing.add(work);
    long end = schedulePieces(work, start);
    allLandedNs = Math.max(allLandedNs, end);
    if (work.opcode == Opcode.WRITE_IMM) {
      enqueueMessage(work);
      return;
    }
    boolean early = model.writeCompletesEarly() && random.nextBoolean();
    if (early) {
      work.capture();
    }
    completeAt((early ? time.nowNs() : end) + wayBack(), work, Status.SUCCESS);
  }

  /** When the last piece moves. */
  private long schedulePieces(Work work, long startNs) {
    // Half of them in one piece: a run in which everything is torn hides what needs something
    // whole.
    work.cut(random.nextBoolean() ? 1 : random.nextInt(1, model.piecesMax() + 1), random.nextInt());
    long end = startNs;
    long spreadNs = model.spreadNs();
    if (work.isStore() && model.storesOutliveKeys() && random.nextInt(network.stoppedOdds()) == 0) {
      // Its poster is stopped in the middle of it.
      spreadNs = 1L << random.nextInt(16, 27);
    }
    for (int i = 0; i < work.pieces; i++) {
      int piece = i;
      long at =
          startNs
              + (work.pieces == 1 && spreadNs == model.spreadNs()
                  ? 0
                  : random.nextLong(spreadNs + 1));
      end = Math.max(end, at);
      time.at(at, () -> move(work, piece));
    }
    return end;
  }

  private void move(Work work, int piece) {
    if (work.stopped || (work.left & 1 << piece) == 0) {
      return;
    }
    if (!work.region.registered) {
      work.status = Status.REMOTE_ACCESS;
      work.torn = true;
      if (!model.storesOutliveKeys() || !work.isStore()) {
        return;
      }
    }
    int changed = work.move(piece);
    device.countMoved(work, changed);
    peer.device.countMoved(work, changed);
  }

  // READ, FLUSH, atomics: one after the other

  private void execute(Work work) {
    long start =
        Math.max(
            time.nowNs() + network.hop(model.landNs()), Math.max(lastNonPostedNs, allLandedNs) + 1);
    if (work.opcode == Opcode.FLUSH) {
      start += network.hop(model.persistNs());
    }
    if (work.opcode == Opcode.READ) {
      work.region = resolve(work);
      lastNonPostedNs = work.region == null ? start : schedulePieces(work, start);
    } else {
      lastNonPostedNs = start;
      time.at(start, () -> executeWhole(work));
    }
    if (work.opcode == Opcode.READ && work.region == null) {
      work.status = Status.REMOTE_ACCESS;
    }
    long moved = work.length * model.wireNsPerKib() >>> 10;
    completeAt(lastNonPostedNs + wayBack() + moved, work, Status.SUCCESS);
  }

  private void executeWhole(Work work) {
    if (work.stopped) {
      return;
    }
    work.region = resolve(work);
    if (work.region == null) {
      work.status = Status.REMOTE_ACCESS;
      return;
    }
    long at = work.region.base + work.remoteOffset;
    switch (work.opcode) {
      case Opcode.FLUSH -> flush(work, at);
      case Opcode.ATOMIC_WRITE -> storeWord(work, at);
      default -> {
        long was = work.region.target.get(SimulatedFile.WORD, at);
        if (was == work.expected) {
          storeWord(work, at);
        }
        work.local.set(SimulatedFile.WORD.withByteAlignment(1), work.localOffset, was);
      }
    }
  }

  private void storeWord(Work work, long at) {
    int changed = Work.storeWord(work.region, at, work.value, -1);
    device.countMoved(work, changed);
    peer.device.countMoved(work, changed);
  }

  /** With DDIO the flush ends in the cache, which is durable or is not. */
  private void flush(Work work, long at) {
    SimulatedFile file = work.region.file;
    if (file != null
        && !model.ddio()
        && file.disk.domain() == PersistenceDomain.MEMORY_CONTROLLER) {
      file.settle(at, work.length);
    }
  }

  // Messages

  private void enqueueMessage(Work work) {
    long at =
        Math.max(
            time.nowNs() + network.hop(model.landNs()), Math.max(allLandedNs, lastMessageNs) + 1);
    lastMessageNs = at;
    messages.add(work);
    time.at(
        at,
        () -> {
          work.ready = true;
          deliver();
        });
  }

  /**
   * Delivers what is there and has a receive waiting: in order, so one without a receive holds up
   * the others.
   */
  private void deliver() {
    while (!messages.isEmpty()
        && messages.peek().ready
        && peer != null
        && peer.phase == Phase.CONNECTED) {
      Work work = messages.peek();
      if (work.stopped || work.torn) {
        messages.poll();
        continue;
      }
      Receive receive = peer.receives.poll();
      if (receive == null) {
        return;
      }
      messages.poll();
      peer.received(work, receive);
      device.sends++;
      completeAt(time.nowNs() + wayBack(), work, Status.SUCCESS);
    }
  }

  private void received(Work work, Receive receive) {
    device.receives++;
    if (work.opcode == Opcode.WRITE_IMM) {
      push(
          new Completion(
              receive.wrId,
              Opcode.RECEIVE_IMM,
              Status.SUCCESS,
              work.length,
              work.imm,
              false,
              work.message));
      return;
    }
    boolean fits = work.length <= receive.length;
    if (fits) {
      MemorySegment.copy(
          work.local, work.localOffset, receive.region.memory(), receive.offset, work.length);
    }
    push(
        new Completion(
            receive.wrId,
            Opcode.RECEIVE,
            fits ? Status.SUCCESS : Status.LENGTH,
            work.length,
            0,
            false,
            work.message));
  }

  // Completions

  private void completeAt(long atNs, Work work, int status) {
    time.at(
        atNs,
        () -> {
          if (work.done || work.stopped || work.mute) {
            return;
          }
          work.done = true;
          work.status = work.status == Status.SUCCESS ? status : work.status;
          if (work.isNonPosted()) {
            nonPostedOutstanding--;
            issue();
          }
          reportDone();
        });
  }

  /** In the order posted. */
  private void reportDone() {
    while (!outstanding.isEmpty() && outstanding.peek().done) {
      Work work = outstanding.poll();
      if (work.isSignaled() || work.status != Status.SUCCESS) {
        int length = work.status == Status.SUCCESS ? work.length : 0;
        push(new Completion(work.wrId, work.opcode, work.status, length, 0, true));
      } else {
        occupied--;
      }
    }
  }

  private void push(Completion completion) {
    completions.add(completion);
    device.activity();
  }

  @Override
  public int poll(CompletionHandler handler, int limit) {
    int count = 0;
    if (device.holdsCompletions()) {
      return 0;
    }
    while (count < limit && !completions.isEmpty()) {
      Completion completion = completions.poll();
      if (completion.ofOwnWork) {
        occupied--;
      }
      polled = Math.max(polled, completion.message);
      count++;
      handler.onCompletion(
          completion.wrId,
          completion.opcode,
          completion.status,
          completion.byteLength,
          completion.imm);
    }
    return count;
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

  // What may still take effect at the end

  /**
   * Whether both ends look at the same memory: then a message counts or does not from one moment to
   * the next. Else nobody can take back what the other end's NIC has received.
   */
  private boolean isExact() {
    return model.readsOutlivePeer();
  }

  @Override
  public long sent() {
    return posted;
  }

  @Override
  public boolean claim() {
    claimed = polled;
    return isPeerThere();
  }

  /** That the other end's process died is noticed late. */
  @Override
  public boolean isPeerThere() {
    boolean left = peer.withdrawn || peer.phase == Phase.CLOSED && !peer.crashed;
    return phase == Phase.CONNECTED && !(isExact() && left);
  }

  @Override
  public void settle() {
    settled = claimed;
  }

  @Override
  public void withdraw() {
    if (withdrawn || phase == Phase.CLOSED) {
      return;
    }
    withdrawn = true;
    claimedThen = !isExact() ? Long.MAX_VALUE : peer == null ? 0 : peer.claimed;
    if (phase == Phase.CONNECTED) {
      peer.endLater();
    }
  }

  @Override
  public long claimed() {
    return claimedThen;
  }

  @Override
  public long settled() {
    return isExact() && peer != null ? peer.settled : 0;
  }

  // The end

  /**
   * The other end wants nothing more from here. What this end has begun to store goes on, where
   * nothing can take that back.
   */
  private void cutShort() {
    List<Work> begun = new ArrayList<>();
    if (model.storesOutliveKeys()) {
      landing.stream().filter(work -> work.left != 0 && !work.stopped).forEach(begun::add);
    }
    stop();
    for (Work work : begun) {
      work.stopped = false;
      work.mute = true;
      work.capture();
      network.begun(work);
      if (unfenced) {
        network.storedUnfenced();
      }
    }
  }

  /** Nothing that this end posted takes effect from now on. */
  private void stop() {
    outstanding.forEach(work -> work.stopped = true);
    stragglers.forEach(work -> work.stopped = true);
    landing.forEach(work -> work.stopped = true);
    stragglers.clear();
    landing.clear();
    unissued.clear();
    messages.clear();
  }

  private void endLater() {
    long ns = network.hop(model.detectNs());
    if (unfenced) {
      // Its process looks when it wants something, or when it goes on after it was stopped.
      ns += random.nextLong(1L << random.nextInt(UNFENCED_NS_LOG2_MIN, UNFENCED_NS_LOG2_MAX));
    }
    time.after(ns, this::end);
  }

  /** Somebody has opened the memory that this end stores into. */
  void fence() {
    if (!unfenced) {
      return;
    }
    unfenced = false;
    for (Work work : outstanding) {
      if (work.opcode == Opcode.WRITE && work.region == null) {
        work.stopped = true;
      }
    }
    unissued.removeIf(work -> work.stopped);
    for (Work work : landing) {
      if (work.left != 0 && !work.stopped) {
        work.mute = true;
        work.capture();
        network.begun(work);
      }
    }
    landing.clear();
    endLater();
  }

  /** The power of the host that this end shares with the memory fails. */
  void fail() {
    unfenced = false;
    stop();
  }

  /**
   * This end notices that the other is gone. What the other had posted takes no effect here any
   * more.
   */
  private void end() {
    if (phase != Phase.CONNECTED) {
      return;
    }
    phase = Phase.ENDED;
    peer.cutShort();
    network.disconnected(this);
    unissued.clear();
    nonPostedOutstanding = 0;
    outstanding.forEach(this::flush);
    outstanding.clear();
    flushReceives();
    push(new Completion(0, Opcode.DISCONNECT, Status.SUCCESS, 0, 0, false));
  }

  private void flush(Work work) {
    int status = work.done ? work.status : Status.FLUSHED;
    if (status == Status.SUCCESS && !work.isSignaled()) {
      occupied--;
    } else {
      push(
          new Completion(
              work.wrId, work.opcode, status, status == Status.SUCCESS ? work.length : 0, 0, true));
    }
    work.done = true;
    leaveBehind(work);
  }

  /** Its poster is free to reuse the memory, and it may arrive nevertheless. Nothing comes back. */
  private void leaveBehind(Work work) {
    work.mute = true;
    if (work.isNonPosted()) {
      work.stopped = true;
    }
    if (!work.stopped) {
      work.capture();
      stragglers.add(work);
    }
  }

  private void flushReceives() {
    for (Receive receive = receives.poll(); receive != null; receive = receives.poll()) {
      push(new Completion(receive.wrId, Opcode.RECEIVE, Status.FLUSHED, 0, 0, false));
    }
  }

  @Override
  public void close() {
    if (phase == Phase.CLOSED) {
      return;
    }
    withdraw();
    if (lost) {
      // Who was stopped in the middle of a store did not notice yet.
      cutShort();
    } else if (random.nextBoolean()) {
      leaveMessages();
    } else {
      stop();
    }
    depart();
    if (peer != null) {
      peer.cutShort();
    }
  }

  /**
   * What has arrived at the other end is delivered there though this end is closed: whoever acts on
   * it looks ({@link #claim}) before it does.
   */
  private void leaveMessages() {
    List<Work> arrived = messages.stream().filter(work -> work.opcode == Opcode.SEND).toList();
    for (Work work : landing) {
      for (int piece = 0; piece < work.pieces; piece++) {
        move(work, piece);
      }
    }
    stop();
    for (Work work : arrived) {
      work.stopped = false;
      work.mute = true;
      work.capture();
      messages.add(work);
      stragglers.add(work);
    }
  }

  private void depart() {
    boolean wasConnected = phase == Phase.CONNECTED;
    phase = Phase.CLOSED;
    outstanding.clear();
    completions.clear();
    receives.clear();
    network.disconnected(this);
    device.forget(this);
    if (wasConnected) {
      peer.endLater();
    }
  }

  /**
   * The wire is gone: of what both ends had posted a part arrives, until the ends notice, each in
   * its time.
   */
  void breakOff() {
    network.disconnected(this);
    cutOff();
    peer.cutOff();
    endLater();
    peer.endLater();
  }

  /**
   * A seeded number of the works on the way arrives whole, the next one in part, the others not at
   * all.
   */
  private void cutOff() {
    lost = true;
    unissued.forEach(work -> work.stopped = true);
    unissued.clear();
    int whole = random.nextInt(outstanding.size() + 1);
    int index = 0;
    for (Work work : outstanding) {
      if (!work.done) {
        work.mute = true;
        work.mayArriveYet = true;
        if (index == whole) {
          tear(work);
        } else if (index > whole) {
          work.stopped = true;
        }
        if (work.isNonPosted()) {
          work.stopped = true;
        } else if (!work.stopped) {
          work.capture();
        }
      }
      index++;
    }
  }

  private void tear(Work work) {
    work.torn = true;
    work.kept = random.nextInt();
    work.left &= work.kept;
  }

  /** The node of this end died. */
  void crash(boolean receivedLands, boolean readsGoOn) {
    if (peer != null) {
      peer.landAtCrash(receivedLands);
      peer.peerCrashed = readsGoOn;
      peer.stopAtCrash();
    }
    crashed = true;
    cutOff();
    outstanding.forEach(this::leaveBehind);
    depart();
  }

  /** What this end was writing into a node that dies. */
  private void landAtCrash(boolean receivedLands) {
    int kept = receivedLands ? -1 : random.nextInt();
    for (Work work : landing) {
      for (int piece = 0; piece < work.pieces; piece++) {
        if ((kept >>> piece & 1) != 0) {
          move(work, piece);
        }
      }
    }
  }

  private void stopAtCrash() {
    unfenced = peerCrashed && phase == Phase.CONNECTED && network.unfenced(this);
    List<Work> goOn = new ArrayList<>();
    for (Work work : outstanding) {
      boolean store = work.opcode == Opcode.WRITE && work.region == null && unfenced;
      if (peerCrashed && (work.opcode == Opcode.READ || store) && !work.stopped) {
        goOn.add(work);
      }
    }
    List<Work> held = List.copyOf(unissued);
    if (peerCrashed) {
      cutShort();
    } else {
      stop();
    }
    goOn.forEach(work -> work.stopped = false);
    goOn.stream().filter(held::contains).forEach(unissued::add);
  }
}
