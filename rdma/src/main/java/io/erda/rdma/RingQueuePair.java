package io.erda.rdma;

import io.erda.pmem.FaultPoint;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * A queue pair over memory that both ends share ({@link QueueLayout}): READ and WRITE are loads and
 * stores of the posting thread, messages go through the two rings. What differs between devices of
 * one host is how an end reaches the other's regions, wakes it, and learns that it died.
 *
 * <p>Everything a post does is done when it returns; the completion waits in a local queue for the
 * next poll. So READs execute in order, a WRITE is visible before a later SEND is, and {@link
 * Flags#FENCE} asks for nothing more.
 *
 * <p><b>Fencing.</b> The owner who closes stores its state before anything else. The other end
 * looks at that state after each READ and WRITE, for a WRITE with a full fence between its stores
 * and that load: either this end sees the state and completes in error, or whoever closed sees the
 * whole WRITE.
 *
 * <p><b>Memory that is not there.</b> A load or store of a region's file that somebody shortened,
 * or a store into a hole of it while the disk is full, is a fault that the JVM reports late ({@link
 * FaultPoint}). Each READ and WRITE waits for that report before it ends, so the fault is its own
 * status and never an error in other work.
 *
 * <p><b>Messages at the end.</b> What a requester had posted takes no effect once it has closed or
 * withdrawn, but for what the responder had claimed: see {@link Claims}.
 *
 * <p><b>Bells.</b> Who is about to sleep stores 1 into its bell, then looks at its ring again; who
 * published looks at the bell after it. A full fence stands between the store and the load on both
 * sides, so not both can miss the other. The ringer clears the bell before it rings, so a bell that
 * was cleared is always followed by a ring.
 */
abstract class RingQueuePair implements QueuePair {
  private static final int QUEUE_DEPTH = 1024;
  private static final int POLLS_PER_CHECK = 64;
  private static final int READS_PER_CHECK = 128;

  /** Life of a queue pair. */
  enum Phase {
    CONNECTING,
    CONNECTED,
    /**
     * The end was noticed: a requester still gets what arrived before, a responder drops it; then
     * posted receives are flushed, then DISCONNECT.
     */
    ENDING,
    ENDED,
    CLOSED
  }

  final MemorySegment queue;
  final LongSupplier nanoTime;
  private final Device device;
  private final boolean requester;
  private final boolean counted;
  private final long extraWriteLatencyNs;
  // Absolute addresses in `queue`; used only while this queue pair is not closed.
  private final long ownState;
  private final long peerState;
  private final long ownBell;
  private final long peerBell;
  private final Ring.Producer out;
  private final Ring.Consumer in;
  private final Counters counters;
  private final Claims claims;
  private final CompletionQueue completions = new CompletionQueue(QUEUE_DEPTH);
  private final ReceiveQueue receives = new ReceiveQueue(QUEUE_DEPTH);
  private final WordCopy words = new WordCopy();
  private final FaultPoint faults = new FaultPoint();
  private final long connectDeadline;
  private final MemorySegment immediate = MemorySegment.ofArray(new long[1]);

  /** Where keys are valid; null until it is known. */
  private MemorySegment registry;

  /** By slot of the key. */
  private RemoteRegion[] regions = new RemoteRegion[16];

  private Phase phase;
  private MemorySegment privateData = MemorySegment.ofArray(new byte[0]);

  /** The peer died or broke the protocol: noticed outside the shared memory. */
  private boolean broken;

  private String lostRegion = "";
  private int polls;
  private long drainUntil;
  private long sends;
  private long receivesDone;

  /** Messages that were posted, those too that the peer's end kept from being published. */
  private long posted;

  /**
   * @param connectTimeoutNs of a requester; unused by a responder, which begins connected
   */
  RingQueuePair(
      Device device,
      MemorySegment queue,
      boolean requester,
      boolean counted,
      long extraWriteLatencyNs,
      long connectTimeoutNs,
      LongSupplier nanoTime) {
    this.device = device;
    this.queue = queue;
    this.requester = requester;
    this.counted = counted;
    this.extraWriteLatencyNs = extraWriteLatencyNs;
    this.nanoTime = nanoTime;
    this.connectDeadline = requester ? nanoTime.getAsLong() + connectTimeoutNs : 0;
    this.phase = requester ? Phase.CONNECTING : Phase.CONNECTED;
    long base = queue.address();
    ownState =
        base
            + (requester ? QueueLayout.REQUESTER_STATE_OFFSET : QueueLayout.RESPONDER_STATE_OFFSET);
    peerState =
        base
            + (requester ? QueueLayout.RESPONDER_STATE_OFFSET : QueueLayout.REQUESTER_STATE_OFFSET);
    ownBell =
        base + (requester ? QueueLayout.REQUESTER_BELL_OFFSET : QueueLayout.RESPONDER_BELL_OFFSET);
    peerBell =
        base + (requester ? QueueLayout.RESPONDER_BELL_OFFSET : QueueLayout.REQUESTER_BELL_OFFSET);
    out =
        new Ring.Producer(
            queue,
            requester ? QueueLayout.TO_RESPONDER_RING_OFFSET : QueueLayout.TO_REQUESTER_RING_OFFSET,
            requester
                ? QueueLayout.TO_RESPONDER_CONSUMED_OFFSET
                : QueueLayout.TO_REQUESTER_CONSUMED_OFFSET);
    in =
        new Ring.Consumer(
            queue,
            requester ? QueueLayout.TO_REQUESTER_RING_OFFSET : QueueLayout.TO_RESPONDER_RING_OFFSET,
            requester
                ? QueueLayout.TO_REQUESTER_CONSUMED_OFFSET
                : QueueLayout.TO_RESPONDER_CONSUMED_OFFSET);
    claims = new Claims(base);
    counters =
        new Counters(
            queue,
            requester
                ? QueueLayout.REQUESTER_COUNTERS_OFFSET
                : QueueLayout.RESPONDER_COUNTERS_OFFSET);
  }

  // What a device adds.

  /**
   * Reaches a region of the peer's for the first time, or for the first WRITE; null when the key is
   * not valid.
   */
  abstract RemoteRegion reach(long key, boolean toWrite);

  /** Why {@link #reach} or {@link #openRegistry} returned null the last time, a status. */
  int reachFailure() {
    return registry == null ? Status.UNREACHABLE : Status.REMOTE_ACCESS;
  }

  /**
   * Where the peer's valid keys are shown; called once, when the connection is accepted. Null fails
   * the connection.
   */
  abstract MemorySegment openRegistry(long registryId);

  /** Wakes the peer, which said that it sleeps. */
  abstract void ring();

  /**
   * Called at a low rate from poll: finds out whether the peer died, and calls {@link #breakOff}.
   */
  abstract void checkPeer();

  /**
   * Called before the bell is armed: takes what woke this end. Whoever takes a ring looks at the
   * ring of messages after it.
   */
  abstract void takeRings();

  /**
   * Called while connecting, before the responder's state is looked at: does what is still to do; a
   * status ends the attempt.
   */
  abstract int advanceConnect();

  /** Releases what the device added; once. */
  abstract void release();

  /**
   * What became of the file that a region is mapped from, for messages; null when nothing did.
   * Asked after a fault.
   */
  String describeLoss(RemoteRegion region) {
    return null;
  }

  // One-sided work.

  @Override
  public final boolean postRead(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    if (isNotReady()) {
      return false;
    }
    LocalRegion to = LocalRegion.of(local, device, localOffset, length);
    RemoteRegion from = region(remoteKey, false);
    int status;
    if (from == null) {
      status = unreached();
    } else if ((from.access() & Access.REMOTE_READ) == 0 || !from.contains(remoteOffset, length)) {
      status = refusal();
    } else {
      status = read(to, localOffset, from, remoteOffset, length);
    }
    complete(wrId, Opcode.READ, status, length, flags);
    return true;
  }

  @Override
  public final boolean readNow(
      MemoryRegion local, long localOffset, long remoteKey, long remoteOffset, int length) {
    int slot = RegistryLayout.slot(remoteKey);
    if (phase != Phase.CONNECTED || slot >= regions.length) {
      return false;
    }
    LocalRegion to = LocalRegion.of(local, device, localOffset, length);
    RemoteRegion from = regions[slot];
    if (from == null
        || from.key() != remoteKey
        || !from.isOurs()
        || (from.access() & Access.REMOTE_READ) == 0
        || !from.contains(remoteOffset, length)) {
      return false;
    }
    long remote = from.address() + remoteOffset;
    long own = to.address + localOffset;
    if (((remote | own | length) & 7) != 0) {
      return false;
    }
    to.requireAlive();
    try {
      Words.copy(remote, own, length);
      int status = afterRead(from, length);
      faults.surface();
      return status == Status.SUCCESS;
    } catch (InternalError e) {
      return afterFault(from, false, e) == Status.SUCCESS;
    }
  }

  private int read(
      LocalRegion to, long localOffset, RemoteRegion from, long remoteOffset, int length) {
    try {
      int status = load(to, localOffset, from, remoteOffset, length);
      faults.surface();
      return status;
    } catch (InternalError e) {
      return afterFault(from, false, e);
    }
  }

  /**
   * Why work of ours met memory that is not there: a status that is never SUCCESS.
   *
   * @param region null when none was reached yet
   * @param stored whether it was a store, of memory that was not the caller's
   * @throws InternalError when no memory of the peer's is gone: then it is somebody else's
   */
  private int afterFault(RemoteRegion region, boolean stored, InternalError e) {
    if (isMemoryLost()) {
      return Status.FENCED;
    }
    if (region == null) {
      throw e;
    }
    boolean valid;
    try {
      valid = isValid(region);
      faults.surface();
    } catch (InternalError again) {
      // The keys themselves can't be looked at any more.
      breakOff();
      return Status.FENCED;
    }
    if (!valid) {
      return Status.REMOTE_ACCESS;
    }
    String loss = describeLoss(region);
    if (loss == null && !stored) {
      throw e;
    }
    lostRegion = loss == null ? "a file there has a hole, and the disk is full" : loss;
    return Status.MEMORY_LOST;
  }

  final void lostRegion(String description) {
    lostRegion = description;
  }

  @Override
  public final String lostRegion() {
    return lostRegion;
  }

  private int load(
      LocalRegion to, long localOffset, RemoteRegion from, long remoteOffset, int length) {
    long remote = from.address() + remoteOffset;
    long own = to.address + localOffset;
    if (from.isOurs() && ((remote | own | length) & 7) == 0) {
      to.requireAlive();
      Words.copy(remote, own, length);
      return afterRead(from, length);
    }
    try {
      words.load(from.memory(), remoteOffset, remote, to.memory, localOffset, own, length);
    } catch (IllegalStateException e) {
      return lost(from, e);
    }
    return afterRead(from, length);
  }

  private int afterRead(RemoteRegion from, int length) {
    // Later loads, those of the next READ too, come after these.
    VarHandle.acquireFence();
    counters.read(length);
    long state = Words.acquire(peerState);
    return state == QueueLayout.OPEN && isValid(from) ? Status.SUCCESS : refused(state, from);
  }

  private int refused(long state, RemoteRegion from) {
    if (state != QueueLayout.OPEN && !(state == QueueLayout.GONE && device.readsOutlivePeer())) {
      return Status.FENCED;
    }
    return isValid(from) ? Status.SUCCESS : Status.REMOTE_ACCESS;
  }

  @Override
  public final boolean postWrite(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    if (isNotReady()) {
      return false;
    }
    LocalRegion from = LocalRegion.of(local, device, localOffset, length);
    complete(
        wrId,
        Opcode.WRITE,
        write(from, localOffset, remoteKey, remoteOffset, length),
        length,
        flags);
    return true;
  }

  private int write(
      LocalRegion from, long localOffset, long remoteKey, long remoteOffset, int length) {
    RemoteRegion to = null;
    try {
      int status = sendable();
      if (status != Status.SUCCESS) {
        return status;
      }
      to = region(remoteKey, true);
      if (to == null) {
        return unreached();
      }
      status =
          isAllowed(to, Access.REMOTE_WRITE, remoteOffset, length)
              ? store(from, localOffset, to, remoteOffset, length)
              : Status.REMOTE_ACCESS;
      faults.surface();
      return status;
    } catch (InternalError e) {
      return afterFault(to, true, e);
    }
  }

  private int store(
      LocalRegion from, long localOffset, RemoteRegion to, long remoteOffset, int length) {
    try {
      if (counted) {
        counters.differing(
            WordCopy.differing(from.memory, localOffset, to.memory(), remoteOffset, length));
      }
      words.store(
          from.memory,
          localOffset,
          from.address + localOffset,
          to.memory(),
          remoteOffset,
          to.address() + remoteOffset,
          length);
    } catch (IllegalStateException e) {
      return lost(to, e);
    }
    counters.write(length);
    if (extraWriteLatencyNs > 0) {
      delay();
    }
    return afterWrite(to);
  }

  /**
   * A WRITE counts only when neither the queue pair nor the key was taken away before its stores
   * were all visible.
   */
  private int afterWrite(RemoteRegion to) {
    VarHandle.fullFence();
    if (Words.acquire(peerState) != QueueLayout.OPEN) {
      return Status.FENCED;
    }
    return isValid(to) ? Status.SUCCESS : Status.REMOTE_ACCESS;
  }

  @Override
  public final boolean postWriteImm(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int imm,
      int flags) {
    if (isNotReady()) {
      return false;
    }
    LocalRegion from = LocalRegion.of(local, device, localOffset, length);
    // The room for the notice is there before the WRITE is done, and only we take it.
    if (out.room(Integer.BYTES) == Ring.EMPTY) {
      return false;
    }
    int status = write(from, localOffset, remoteKey, remoteOffset, length);
    if (status == Status.SUCCESS) {
      immediate.set(QueueLayout.INT, 0, length);
      status = publish(Ring.TYPE_WRITE_IMM, imm, immediate, 0, Integer.BYTES);
      posted++;
    }
    complete(wrId, Opcode.WRITE_IMM, status, length, flags);
    return true;
  }

  @Override
  public final boolean postAtomicWrite(
      long wrId, long remoteKey, long remoteOffset, long value, int flags) {
    if (isNotReady()) {
      return false;
    }
    int status = sendable();
    if (status == Status.SUCCESS) {
      RemoteRegion to = region(remoteKey, true);
      if (to == null
          || !isWord(to, remoteOffset)
          || !isAllowed(to, Access.REMOTE_WRITE, remoteOffset, Long.BYTES)) {
        status = Status.REMOTE_ACCESS;
      } else {
        status = atomicWrite(to, remoteOffset, value);
      }
    }
    complete(wrId, Opcode.ATOMIC_WRITE, status, Long.BYTES, flags);
    return true;
  }

  private int atomicWrite(RemoteRegion to, long remoteOffset, long value) {
    try {
      if (counted) {
        counters.differing(
            differing((long) QueueLayout.WORD.getOpaque(to.memory(), remoteOffset), value));
      }
      QueueLayout.WORD.setRelease(to.memory(), remoteOffset, value);
      counters.write(Long.BYTES);
      int status = afterWrite(to);
      faults.surface();
      return status;
    } catch (InternalError e) {
      return afterFault(to, true, e);
    }
  }

  @Override
  public final boolean postCompareAndSwap(
      long wrId,
      MemoryRegion local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      long expected,
      long value,
      int flags) {
    if (isNotReady()) {
      return false;
    }
    LocalRegion old = LocalRegion.of(local, device, localOffset, Long.BYTES);
    int status = sendable();
    if (status == Status.SUCCESS) {
      RemoteRegion to = region(remoteKey, true);
      if (to == null
          || !isWord(to, remoteOffset)
          || !isAllowed(to, Access.REMOTE_ATOMIC, remoteOffset, Long.BYTES)) {
        status = Status.REMOTE_ACCESS;
      } else {
        status = compareAndSwap(old, localOffset, to, remoteOffset, expected, value);
      }
    }
    complete(wrId, Opcode.COMPARE_AND_SWAP, status, Long.BYTES, flags);
    return true;
  }

  private int compareAndSwap(
      LocalRegion old,
      long localOffset,
      RemoteRegion to,
      long remoteOffset,
      long expected,
      long value) {
    long was;
    try {
      // Where memory is missing the interpreter's compare-and-swap ends the process, and a load
      // does not.
      was = (long) QueueLayout.WORD.getOpaque(to.memory(), remoteOffset);
      faults.surface();
      was = (long) QueueLayout.WORD.compareAndExchange(to.memory(), remoteOffset, expected, value);
      faults.surface();
    } catch (InternalError e) {
      return afterFault(to, true, e);
    }
    if (was == expected) {
      counters.write(Long.BYTES);
      if (counted) {
        counters.differing(differing(was, value));
      }
    }
    old.memory.set(QueueLayout.LONG.withByteAlignment(1), localOffset, was);
    return afterWrite(to);
  }

  @Override
  public final boolean postFlush(
      long wrId, long remoteKey, long remoteOffset, int length, int flags) {
    throw new UnsupportedOperationException(
        "FLUSH: ask the responder, whose stores they are as much as ours");
  }

  private static boolean isWord(RemoteRegion region, long offset) {
    return (region.address() + offset & 7) == 0;
  }

  /** Looked at before a store: a key that was revoked must not be written through. */
  private boolean isAllowed(RemoteRegion region, int access, long offset, int length) {
    return (region.access() & access) != 0 && region.contains(offset, length) && isValid(region);
  }

  private static int differing(long old, long value) {
    int bytes = 0;
    for (long bits = old ^ value; bits != 0; bits >>>= 8) {
      bytes += (bits & 0xff) != 0 ? 1 : 0;
    }
    return bytes;
  }

  private RemoteRegion region(long key, boolean toWrite) {
    int slot = RegistryLayout.slot(key);
    if (slot < regions.length) {
      RemoteRegion known = regions[slot];
      if (known != null && known.key() == key && (known.writable() || !toWrite)) {
        return known;
      }
    }
    return registry == null ? null : reachFirst(key, slot, toWrite);
  }

  private RemoteRegion reachFirst(long key, int slot, boolean toWrite) {
    RemoteRegion found = reach(key, toWrite);
    if (found == null) {
      return null;
    }
    if (slot >= regions.length) {
      regions = Arrays.copyOf(regions, Math.max(slot + 1, 2 * regions.length));
    }
    if (regions[slot] != null) {
      supersede(regions[slot]);
    }
    regions[slot] = found;
    return found;
  }

  @Override
  public final void forget(long key) {
    int slot = RegistryLayout.slot(key);
    if (slot < regions.length && regions[slot] != null && regions[slot].key() == key) {
      leave(regions[slot]);
      regions[slot] = null;
    }
  }

  /** A region that is not used any more, and whose key is not either. */
  void leave(RemoteRegion region) {}

  /** Another region, or another mapping of the same one, took the place of this one. */
  void supersede(RemoteRegion region) {}

  private boolean isValid(RemoteRegion region) {
    return Words.acquire(region.keyAddress()) == region.key();
  }

  /**
   * Memory that its owner took away while it was used: no error of ours when the key was revoked
   * before.
   */
  private int lost(RemoteRegion region, IllegalStateException e) {
    if (isValid(region)) {
      throw e;
    }
    return Status.REMOTE_ACCESS;
  }

  private int unreached() {
    int status = refusal();
    return status == Status.REMOTE_ACCESS ? reachFailure() : status;
  }

  private int refusal() {
    if (registry == null && requester) {
      return Status.FLUSHED;
    }
    long state = Words.acquire(peerState);
    return state == QueueLayout.FENCED ? Status.FENCED : Status.REMOTE_ACCESS;
  }

  private void delay() {
    long until = nanoTime.getAsLong() + extraWriteLatencyNs;
    while (nanoTime.getAsLong() - until < 0) {
      Thread.onSpinWait();
    }
  }

  // Messages.

  @Override
  public final boolean postSend(
      long wrId, MemoryRegion local, long localOffset, int length, int flags) {
    if (length > QueueLayout.MESSAGE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "message of " + length + " bytes; at most " + QueueLayout.MESSAGE_BYTES_MAX);
    }
    if (isNotReady()) {
      return false;
    }
    LocalRegion from = LocalRegion.of(local, device, localOffset, length);
    int status = sendable();
    if (status == Status.SUCCESS || mayAnswer()) {
      status = publish(Ring.TYPE_SEND, 0, from.memory, localOffset, length);
      if (status < 0) {
        return false;
      }
    }
    posted++;
    complete(wrId, Opcode.SEND, status, length, flags);
    return true;
  }

  /** A requester that has withdrawn may still wait for the answers to what was claimed before. */
  private boolean mayAnswer() {
    return !requester
        && phase == Phase.CONNECTED
        && !broken
        && Words.acquire(peerState) == QueueLayout.FENCED;
  }

  /** A status, or -1 when the ring has no room. */
  private int publish(int type, int imm, MemorySegment source, long offset, int length) {
    int offered = out.offer(type, imm, source, offset, length);
    if (offered == Ring.EMPTY) {
      return -1;
    }
    if (offered == Ring.FAULT) {
      breakOff();
      return Status.FLUSHED;
    }
    sends++;
    ringIfAsleep();
    return Words.acquire(peerState) == QueueLayout.OPEN ? Status.SUCCESS : Status.FENCED;
  }

  /** After everything the peer is to see was stored. */
  final void ringIfAsleep() {
    VarHandle.fullFence();
    if (Words.acquire(peerBell) != 0) {
      Words.release(peerBell, 0);
      ring();
    }
  }

  @Override
  public final boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    if (phase == Phase.CLOSED) {
      throw closed();
    }
    LocalRegion to = LocalRegion.of(local, device, localOffset, length);
    if (phase != Phase.ENDED) {
      return receives.add(wrId, to, localOffset, length);
    }
    if (completions.isFull()) {
      return false;
    }
    completions.add(wrId, Opcode.RECEIVE, Status.FLUSHED, 0);
    return true;
  }

  // Completions.

  @Override
  public final int poll(CompletionHandler handler, int limit) {
    int done = completions.drain(handler, limit);
    // Who reads in the call polls seldom.
    if (((++polls & POLLS_PER_CHECK - 1) == 0 || counters.readsSinceCheck() >= READS_PER_CHECK)
        && phase == Phase.CONNECTED) {
      counters.check();
      // Before the ring is looked at: this takes what rang the bell, and who armed and polls before
      // it sleeps would not be woken by a message that rang in between.
      checkPeer();
    }
    if (phase == Phase.CONNECTED) {
      // Answers that came before the end count; what a requester sent that is gone does not.
      if (requester || !hasEnded()) {
        done += receive(handler, limit - done);
      }
      // Nothing published before the end may be missed: look at the ring once more after noticing
      // it.
      if (phase == Phase.CONNECTED && hasEnded()) {
        phase = Phase.ENDING;
        drainUntil = in.position() + (requester ? QueueLayout.RING_BYTES : 0);
      }
    }
    return phase == Phase.CONNECTED ? done : done + turn(handler, limit - done);
  }

  /** The part of a poll for a queue pair that begins or ends. */
  private int turn(CompletionHandler handler, int limit) {
    return switch (phase) {
      case CONNECTING -> limit > 0 ? connect(handler) : 0;
      case ENDING -> end(handler, limit);
      case CONNECTED, ENDED, CLOSED -> 0;
    };
  }

  private int receive(CompletionHandler handler, int limit) {
    int done = 0;
    while (done < limit && !receives.isEmpty()) {
      long header = in.next();
      if (header == Ring.EMPTY) {
        return done;
      }
      if (header == Ring.FAULT) {
        breakOff();
        return done;
      }
      deliver(handler, header);
      done++;
      if (phase == Phase.CLOSED) {
        return done;
      }
    }
    return done;
  }

  private void deliver(CompletionHandler handler, long header) {
    long wrId = receives.wrId();
    int opcode = Opcode.RECEIVE_IMM;
    int length;
    int status = Status.SUCCESS;
    if (Ring.type(header) == Ring.TYPE_SEND) {
      opcode = Opcode.RECEIVE;
      length = Ring.length(header);
      if (length > receives.length()) {
        status = Status.LENGTH;
      } else {
        in.copyTo(receives.region().memory, receives.offset(), length);
      }
    } else {
      length = in.writtenBytes();
    }
    in.consume(header);
    receives.remove();
    receivesDone++;
    handler.onCompletion(wrId, opcode, status, length, Ring.imm(header));
  }

  private int connect(CompletionHandler handler) {
    int failure = advanceConnect();
    long state = Words.acquire(peerState);
    if (state == QueueLayout.PENDING) {
      if (failure == Status.SUCCESS && nanoTime.getAsLong() - connectDeadline < 0) {
        return 0;
      }
      return decided(handler, failure == Status.SUCCESS ? Status.TIMEOUT : failure);
    }
    MemorySegment data = QueueLayout.privateData(queue, QueueLayout.RESPONDER_DATA_OFFSET);
    privateData = data == null ? privateData : data;
    if (state == QueueLayout.REFUSED) {
      return decided(handler, Status.REJECTED);
    }
    registry =
        openRegistry((long) QueueLayout.WORD.getAcquire(queue, QueueLayout.REGISTRY_ID_OFFSET));
    // Accepted and closed again already: connected, then disconnected.
    return decided(handler, registry == null ? reachFailure() : Status.SUCCESS);
  }

  private int decided(CompletionHandler handler, int status) {
    phase = status == Status.SUCCESS ? Phase.CONNECTED : Phase.ENDED;
    if (status != Status.SUCCESS) {
      Words.release(ownState, QueueLayout.FENCED);
      ringIfAsleep();
      flushReceives();
    }
    handler.onCompletion(0, Opcode.CONNECT, status, 0, 0);
    return 1;
  }

  private boolean hasEnded() {
    return broken || Words.acquire(peerState) != QueueLayout.OPEN;
  }

  private int end(CompletionHandler handler, int limit) {
    // A ring's worth at most: a peer that goes on publishing must not keep us here.
    int done = in.position() < drainUntil ? receive(handler, limit) : 0;
    while (phase == Phase.ENDING && done < limit && !receives.isEmpty()) {
      long wrId = receives.wrId();
      receives.remove();
      done++;
      handler.onCompletion(wrId, Opcode.RECEIVE, Status.FLUSHED, 0, 0);
    }
    if (phase == Phase.ENDING && done < limit && completions.isEmpty()) {
      phase = Phase.ENDED;
      done++;
      handler.onCompletion(0, Opcode.DISCONNECT, Status.SUCCESS, 0, 0);
    }
    return done;
  }

  private void flushReceives() {
    while (!receives.isEmpty() && !completions.isFull()) {
      completions.add(receives.wrId(), Opcode.RECEIVE, Status.FLUSHED, 0);
      receives.remove();
    }
  }

  private void complete(long wrId, int opcode, int status, int length, int flags) {
    if (status != Status.SUCCESS || (flags & Flags.SIGNALED) != 0) {
      completions.add(wrId, opcode, status, status == Status.SUCCESS ? length : 0);
    }
  }

  // Life.

  /**
   * Whether work can't be posted now: still connecting, or as many completions wait as there is
   * room for.
   */
  private boolean isNotReady() {
    if (phase == Phase.CLOSED) {
      throw closed();
    }
    return phase == Phase.CONNECTING || completions.isFull();
  }

  /** Whether stores and messages may still take effect; a status. */
  private int sendable() {
    if (claims.isWithdrawn()) {
      return Status.FLUSHED;
    }
    long state = Words.acquire(peerState);
    if (state == QueueLayout.OPEN && !broken) {
      return Status.SUCCESS;
    }
    return state == QueueLayout.FENCED || state == QueueLayout.GONE
        ? Status.FENCED
        : Status.FLUSHED;
  }

  // What may still take effect at the end.

  @Override
  public final long sent() {
    return posted;
  }

  @Override
  public final boolean claim() {
    if (phase != Phase.CONNECTED || requester) {
      return false;
    }
    checkPeer();
    claims.claim(receivesDone);
    return !hasEnded();
  }

  @Override
  public final boolean isPeerThere() {
    return phase == Phase.CONNECTED && !hasEnded();
  }

  @Override
  public final void settle() {
    if (phase != Phase.CLOSED && !requester) {
      claims.settle();
    }
  }

  @Override
  public final void withdraw() {
    if (phase == Phase.CLOSED || claims.isWithdrawn() || !requester) {
      return;
    }
    isMemoryLost();
    Words.release(ownState, QueueLayout.FENCED);
    ringIfAsleep();
    claims.withdraw();
  }

  @Override
  public final long claimed() {
    return claims.isWithdrawn() ? claims.claimedThen() : Long.MAX_VALUE;
  }

  @Override
  public final long settled() {
    return claims.settled(phase == Phase.CLOSED);
  }

  /** What both ends share was replaced by zeros, which say nothing of what the responder did. */
  final void onMemoryLost() {
    claims.lose();
    breakOff();
  }

  /** The peer died, or what it wrote can't be: nothing of it counts from now on. */
  final void breakOff() {
    broken = true;
    if (!requester) {
      Words.release(ownState, QueueLayout.FENCED);
    }
  }

  final boolean isBroken() {
    return broken;
  }

  final Phase phase() {
    return phase;
  }

  final boolean isRequester() {
    return requester;
  }

  final long connectDeadline() {
    return connectDeadline;
  }

  @Override
  public final boolean arm() {
    if (phase == Phase.CLOSED) {
      return true;
    }
    counters.show();
    takeRings();
    Words.release(ownBell, 1);
    VarHandle.fullFence();
    if (mayComplete()) {
      Words.release(ownBell, 0);
      return false;
    }
    return true;
  }

  private boolean mayComplete() {
    if (!completions.isEmpty()) {
      return true;
    }
    return switch (phase) {
      case CONNECTING ->
          advanceConnect() != Status.SUCCESS
              || Words.acquire(peerState) != QueueLayout.PENDING
              || nanoTime.getAsLong() - connectDeadline >= 0;
      case CONNECTED -> hasEnded() || !receives.isEmpty() && !in.isEmpty();
      case ENDING -> true;
      case ENDED, CLOSED -> false;
    };
  }

  @Override
  public final MemorySegment privateData() {
    return privateData;
  }

  /** What a responder's peer sent along stands in its request; an acceptance has nothing more. */
  final void registry(MemorySegment ofOwnDevice) {
    registry = ofOwnDevice;
  }

  @Override
  public final void close() {
    closeAs(QueueLayout.FENCED);
  }

  /** Ends this end; {@code state} is what the peer finds. */
  final void closeAs(long state) {
    if (phase == Phase.CLOSED) {
      return;
    }
    // Nothing of the closing is left out because the memory went away a moment ago.
    isMemoryLost();
    withdraw();
    settled();
    phase = Phase.CLOSED;
    counters.show();
    Words.release(ownState, state);
    ringIfAsleep();
    completions.clear();
    release();
  }

  /** Both ends' one-sided work, and this end's messages. */
  final DeviceStatistics statistics() {
    if (phase != Phase.CLOSED) {
      counters.show();
    }
    DeviceStatistics ofRequester = Counters.load(queue, QueueLayout.REQUESTER_COUNTERS_OFFSET);
    DeviceStatistics ofResponder = Counters.load(queue, QueueLayout.RESPONDER_COUNTERS_OFFSET);
    return ofRequester
        .plus(ofResponder)
        .plus(new DeviceStatistics(0, 0, 0, 0, 0, sends, receivesDone));
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("queue pair is closed");
  }
}
