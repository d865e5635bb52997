package io.erda.rdma.rings;

import io.erda.pmem.MemoryGuard;
import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * A queue pair over memory that both ends share ({@link QueueLayout}): READ and WRITE are loads and
 * stores of the posting thread, messages go through the two rings. Its subclasses, the devices
 * within one host, differ in how an end accesses the regions of the other end, wakes it, and
 * notices its death.
 *
 * <p>All effects of a post have happened when it returns; the completion waits in a local queue for
 * the next poll. So READs execute in order, a WRITE is visible before a later SEND is, and {@link
 * Flags#FENCE} needs no further action.
 *
 * <p><b>Fencing.</b> Closing first stores the state of this end ({@link Ends}), and work of the
 * other end that finds this state fails ({@link OneSidedWork}).
 *
 * <p><b>Messages at the end.</b> After a requester has closed or withdrawn, only messages that the
 * responder had claimed take effect: see {@link ClaimWords}.
 *
 * <p>{@link Bells} explains how an end that sleeps is woken.
 *
 * <p>{@link OneSidedWork} and {@link Messages} do the posted work.
 */
public abstract class RingQueuePair implements QueuePair, RemoteRegions.Source {
  private static final int QUEUE_DEPTH = 1024;
  private static final int POLLS_PER_CHECK = 64;
  private static final int READS_PER_CHECK = 128;

  /** The phase of a queue pair. */
  public enum Phase {
    CONNECTING,
    CONNECTED,
    /**
     * The end of the connection was noticed. A requester still delivers messages that arrived
     * before, a responder drops them. Then posted receives are flushed, and DISCONNECT is reported.
     */
    ENDING,
    ENDED,
    CLOSED
  }

  public final MemorySegment queue;
  protected final LongSupplier nanoTime;
  private final Device device;
  private final boolean requester;
  private final Bells bells;
  private final Messages messages;
  private final Counters counters;
  private final ClaimWords claimWords;
  private final RingClaims claims;
  private final Ends ends;
  private final RemoteRegions regions = new RemoteRegions(this);
  private final OneSidedWork oneSided;
  private final CompletionQueue completions = new CompletionQueue(QUEUE_DEPTH);
  private final long connectDeadline;
  private final MemoryGuard faults = new MemoryGuard();
  private final MemorySegment immediate = MemorySegment.ofArray(new long[1]);

  private Phase phase;
  private boolean released;
  private MemorySegment privateData = MemorySegment.ofArray(new byte[0]);

  private int polls;
  private long drainUntil;

  /**
   * @param connectTimeoutNs the time-out of a requester; not used by a responder, which begins in
   *     the phase CONNECTED
   */
  protected RingQueuePair(
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
    this.nanoTime = nanoTime;
    this.connectDeadline = requester ? nanoTime.getAsLong() + connectTimeoutNs : 0;
    this.phase = requester ? Phase.CONNECTING : Phase.CONNECTED;
    bells = new Bells(queue, requester);
    messages = new Messages(queue, requester, QUEUE_DEPTH);
    claimWords = new ClaimWords(queue.address());
    ends = new Ends(queue, requester, claimWords);
    claims = new RingClaims(this, claimWords, ends, messages);
    counters =
        new Counters(
            queue,
            requester
                ? QueueLayout.REQUESTER_COUNTERS_OFFSET
                : QueueLayout.RESPONDER_COUNTERS_OFFSET);
    oneSided =
        new OneSidedWork(
            device,
            this,
            regions,
            ends,
            counters,
            requester,
            counted,
            extraWriteLatencyNs,
            nanoTime);
  }

  // Methods that a subclass implements, besides those for the peer's regions.

  @Override
  public int reachFailure() {
    return regions.isOpen() ? Status.REMOTE_ACCESS : Status.UNREACHABLE;
  }

  /**
   * Gets access to the memory with the peer's valid keys. Called once, when the connection is
   * accepted. When it returns false the connection fails with {@link #reachFailure}.
   */
  protected abstract boolean openRegistry(long registryId);

  /** Wakes the peer, whose bell shows that it sleeps. */
  protected abstract void ring();

  /**
   * Finds out whether the peer has died, and calls {@link #breakOff} if so. Called at a low rate
   * from poll.
   */
  protected abstract void checkPeer();

  /**
   * Takes the wake-ups that this end has received. Called before the bell is armed; this end looks
   * at the ring of messages afterwards.
   */
  protected abstract void takeRings();

  /**
   * Goes on connecting. Called during an attempt to connect, before the responder's state is
   * checked. An error status ends the attempt.
   */
  protected abstract int advanceConnect();

  /** Releases the device's resources of this end; called once. */
  protected abstract void release();

  @Override
  public boolean isMemoryLost() {
    return false;
  }

  /** Notes whether the file that both ends share was shortened. Called before an end is stored. */
  protected void lookForShortening() {
    // Memory without a file can't be shortened.
  }

  // Posting.

  @Override
  public final boolean post(Work work) {
    assert work.isWellFormed() : work;
    if (isNotReady()) {
      return false;
    }
    return switch (work.opcode) {
      case Opcode.READ -> complete(work, oneSided.read(checked(work)));
      case Opcode.WRITE -> complete(work, oneSided.write(checked(work)));
      case Opcode.WRITE_IMM -> postWriteImm(work);
      case Opcode.SEND -> postSend(work);
      // Only the responder can flush its memory, after a message from this end.
      case Opcode.FLUSH -> complete(work, Status.UNSUPPORTED);
      case Opcode.ATOMIC_WRITE -> complete(work, oneSided.atomicWrite(work));
      case Opcode.COMPARE_AND_SWAP -> complete(work, oneSided.compareAndSwap(local(work), work));
      default -> throw new IllegalArgumentException(work.toString());
    };
  }

  /** Checks the local memory of work, and returns the work. */
  private Work checked(Work work) {
    local(work);
    return work;
  }

  private LocalRegion local(Work work) {
    return LocalRegion.of(work.local, device, work.localOffset, work.length);
  }

  /** Work has ended with this status; returns that it was posted. */
  private boolean complete(Work work, int status) {
    if (status != Status.SUCCESS || (work.flags & Flags.SIGNALED) != 0) {
      int length = status == Status.SUCCESS ? work.length : 0;
      completions.add(work.wrId, work.opcode, status, length);
    }
    return true;
  }

  private boolean postWriteImm(Work work) {
    checked(work);
    // There must be room for the notice before the WRITE. Only this thread takes room in the ring.
    if (!messages.hasRoom(Integer.BYTES)) {
      return false;
    }
    int status = oneSided.write(work);
    if (status == Status.SUCCESS) {
      immediate.set(QueueLayout.INT, 0, work.length);
      status = publish(Ring.TYPE_WRITE_IMM, work.imm, immediate, 0, Integer.BYTES);
      assert status >= 0 : "the room for the notice was taken";
      claims.onPosted();
    }
    return complete(work, status);
  }

  private boolean postSend(Work work) {
    if (work.length > QueueLayout.MESSAGE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "message of " + work.length + " bytes; at most " + QueueLayout.MESSAGE_BYTES_MAX);
    }
    LocalRegion from = local(work);
    int status = ends.sendable();
    if (status == Status.SUCCESS || mayAnswer()) {
      status = publish(Ring.TYPE_SEND, 0, from.memory, work.localOffset, work.length);
      if (status < 0) {
        return false;
      }
    }
    claims.onPosted();
    return complete(work, status);
  }

  @Override
  public final boolean readNow(Work read) {
    assert read.isWellFormed() && read.opcode == Opcode.READ : read;
    return phase == Phase.CONNECTED && oneSided.readNow(local(read), read);
  }

  @Override
  public final void readSoon(long[] remoteKeys, long[] remoteOffsets, int length, int count) {
    if (phase == Phase.CONNECTED) {
      oneSided.readSoon(remoteKeys, remoteOffsets, length, count);
    }
  }

  @Override
  public final MemorySegment memory(long remoteKey, boolean toStore) {
    return phase == Phase.CONNECTED ? oneSided.memory(remoteKey, toStore) : null;
  }

  @Override
  public final void forget(long key) {
    regions.forget(key);
  }

  protected final void lostRegion(String description) {
    oneSided.lostRegion(description);
  }

  @Override
  public final String lostRegion() {
    return oneSided.lostRegion();
  }

  /**
   * Whether this end may send an answer: a requester that has withdrawn may still wait for the
   * answers to messages that were claimed before.
   */
  private boolean mayAnswer() {
    return !requester
        && phase == Phase.CONNECTED
        && !ends.isBroken()
        && ends.peerState() == QueueLayout.FENCED;
  }

  /** Publishes a message. Returns a status, or -1 when the ring has no room. */
  private int publish(int type, int imm, MemorySegment source, long offset, int length) {
    int offered = messages.offer(type, imm, source, offset, length);
    if (offered == Ring.EMPTY) {
      return -1;
    }
    if (offered == Ring.FAULT) {
      breakOff();
      return Status.FLUSHED;
    }
    ringIfAsleep();
    return ends.peerState() == QueueLayout.OPEN ? Status.SUCCESS : Status.FENCED;
  }

  /** Wakes the peer if it sleeps. Called after the stores that the peer must see. */
  public final void ringIfAsleep() {
    if (bells.takePeer()) {
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
      return messages.addReceive(wrId, to, localOffset, length);
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
    // An end that READs within calls polls seldom, so its READs are counted, too.
    if (((++polls & POLLS_PER_CHECK - 1) == 0 || counters.readsSinceCheck() >= READS_PER_CHECK)
        && phase == Phase.CONNECTED) {
      counters.check();
      // checkPeer takes wake-ups, so this end looks at the ring afterwards. Otherwise an end that
      // has armed its bell and polls before it sleeps would miss the message whose wake-up was
      // taken.
      checkPeer();
    }
    if (phase == Phase.CONNECTED) {
      // Answers that came before the end are delivered; messages of a requester that has ended are
      // not.
      if (requester || !ends.hasPeerEnded()) {
        done += receive(handler, limit - done);
      }
      // A message that was published before the end must not be missed, so the ring is checked once
      // more after the end was noticed.
      if (phase == Phase.CONNECTED && ends.hasPeerEnded()) {
        assert drainUntil == 0 : "an end is noticed twice";
        phase = Phase.ENDING;
        drainUntil = messages.position() + (requester ? QueueLayout.RING_BYTES : 0);
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
    while (done < limit && messages.hasReceive()) {
      long delivered = messages.deliver(handler);
      if (delivered == Ring.EMPTY) {
        return done;
      }
      if (delivered == Ring.FAULT) {
        breakOff();
        return done;
      }
      done++;
      if (phase == Phase.CLOSED) {
        return done;
      }
    }
    return done;
  }

  private int connect(CompletionHandler handler) {
    int failure = advanceConnect();
    long state = ends.peerState();
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
    boolean open =
        openRegistry((long) QueueLayout.WORD.getAcquire(queue, QueueLayout.REGISTRY_ID_OFFSET));
    if (open) {
      regions.open();
    }
    // The peer may have accepted and then closed. This is reported as connected, then disconnected.
    return decided(handler, open ? Status.SUCCESS : reachFailure());
  }

  private int decided(CompletionHandler handler, int status) {
    assert phase == Phase.CONNECTING : phase;
    phase = status == Status.SUCCESS ? Phase.CONNECTED : Phase.ENDED;
    if (status != Status.SUCCESS) {
      ends.end(QueueLayout.FENCED);
      ringIfAsleep();
      flushReceives();
    }
    handler.onCompletion(0, Opcode.CONNECT, status, 0, 0);
    return 1;
  }

  private int end(CompletionHandler handler, int limit) {
    // At most the bytes of one ring are delivered, so that a peer that goes on publishing can't
    // delay the end.
    int done = messages.position() < drainUntil ? receive(handler, limit) : 0;
    while (phase == Phase.ENDING && done < limit && messages.hasReceive()) {
      long wrId = messages.removeReceive();
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
    while (messages.hasReceive() && !completions.isFull()) {
      completions.add(messages.removeReceive(), Opcode.RECEIVE, Status.FLUSHED, 0);
    }
  }

  // Life.

  /**
   * Whether work can't be posted now: still connecting, or there is no room for another completion.
   */
  private boolean isNotReady() {
    if (phase == Phase.CLOSED) {
      throw closed();
    }
    return phase == Phase.CONNECTING || completions.isFull();
  }

  @Override
  public final Claims claims() {
    return claims;
  }

  /**
   * Called when the memory that both ends share was lost and replaced by zeros, which do not show
   * which messages the responder has claimed.
   */
  protected final void onMemoryLost() {
    claimWords.lose();
    breakOff();
  }

  /**
   * Ends the connection because the peer died or violated the protocol. From now on nothing that
   * comes from the peer is used.
   */
  public final void breakOff() {
    ends.breakOff();
  }

  protected final boolean isBroken() {
    return ends.isBroken();
  }

  public final Phase phase() {
    return phase;
  }

  public final boolean isRequester() {
    return requester;
  }

  public final long connectDeadline() {
    return connectDeadline;
  }

  @Override
  public final boolean arm() {
    if (phase == Phase.CLOSED) {
      return true;
    }
    counters.show();
    takeRings();
    bells.arm();
    if (mayComplete()) {
      bells.disarm();
      return false;
    }
    return true;
  }

  @Override
  public final boolean mayComplete() {
    if (!completions.isEmpty()) {
      return true;
    }
    return switch (phase) {
      case CONNECTING ->
          advanceConnect() != Status.SUCCESS
              || ends.peerState() != QueueLayout.PENDING
              || nanoTime.getAsLong() - connectDeadline >= 0;
      case CONNECTED -> ends.hasPeerEnded() || messages.mayDeliver();
      case ENDING -> true;
      case ENDED, CLOSED -> false;
    };
  }

  /**
   * {@inheritDoc} On a responder it is empty, because the private data of its peer is in the
   * connection request.
   */
  @Override
  public final MemorySegment privateData() {
    return privateData;
  }

  /**
   * Called when both ends are in one process, so that the peer's keys are accessible from the
   * start.
   */
  protected final void openOwnRegistry() {
    regions.open();
  }

  @Override
  public final void close() {
    closeAs(QueueLayout.FENCED);
  }

  /** Closes this end; {@code state} is stored for the peer. */
  public final void closeAs(long state) {
    if (released) {
      return;
    }
    if (phase != Phase.CLOSED) {
      // If the memory was lost a moment ago, the closing still does all its steps.
      lookForShortening();
      claims.withdraw();
      if (!faults.attempt(this, closing -> closing.showEnd(state))) {
        // The peer learns of the end by the end of its socket.
        isMemoryLost();
      }
      phase = Phase.CLOSED;
      completions.clear();
    }
    // An error may have ended an earlier call here.
    release();
    released = true;
  }

  private void showEnd(long state) {
    claims.finished();
    counters.show();
    ends.end(state);
    ringIfAsleep();
  }

  /** Counts both ends' one-sided work, and this end's messages. */
  public final DeviceStatistics statistics() {
    if (phase != Phase.CLOSED) {
      counters.show();
    }
    DeviceStatistics ofRequester = Counters.load(queue, QueueLayout.REQUESTER_COUNTERS_OFFSET);
    DeviceStatistics ofResponder = Counters.load(queue, QueueLayout.RESPONDER_COUNTERS_OFFSET);
    return ofRequester
        .plus(ofResponder)
        .plus(new DeviceStatistics(0, 0, 0, 0, 0, messages.sent(), messages.received()));
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("queue pair is closed");
  }
}
