package io.erda.client.puts;

import io.erda.client.LocalPublisher;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Lease;
import io.erda.client.connections.Leases;
import io.erda.client.connections.Refusals;
import io.erda.client.connections.Requests;
import io.erda.client.connections.WorkId;
import io.erda.client.gets.GetErrors;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;

/**
 * A put or a delete into leased space: takes the next place of a lease and lets the store's put
 * mode make the object there the newest version of its key ({@link PutWay}).
 *
 * <p>A delete for which the log has no room asks the server to empty the entry instead (ERASE).
 *
 * <p>Nothing is replayed once something was posted that may take effect: if the connection ends
 * then, the outcome is unknown. What the server refused had no effect, so it may be done again
 * elsewhere.
 */
public final class LeasedPut extends Put {
  /** Its way is at work. */
  private static final int ON_ITS_WAY = PUT_STEPS;

  private static final int POST_ERASE = PUT_STEPS + 1;
  private static final int ERASING = PUT_STEPS + 2;

  /** It waits for puts that have a place in the same lease and could not be posted yet. */
  private static final int WAIT_PLACE = PUT_STEPS + 3;

  private static final int REWRITES_MAX = 8;
  private static final int INVALID_MAX = 1;

  /** Pauses before a delete without space asks again while a put of its key is undecided. */
  private static final long UNDECIDED_PAUSE_NS = 100_000;

  private final PutOrder turns;
  private final PublishLast publishLast = new PublishLast(this);
  private final AnnounceFirst announceFirst = new AnnounceFirst(this);

  private final Work write = Work.write();
  private final Work readRoot = Work.read().signaled();

  /** The object that is published without a message. */
  private final LocalPublisher.Built built = new LocalPublisher.Built();

  /** That of the store; null before the first place is taken. */
  private PutWay way;

  long reservation;
  int offset;
  private long serial;
  private long remoteKey;
  private long place;
  private int rewrites;
  private int invalid;

  /** Why a WRITE of this operation could not be begun; SUCCESS when none was refused. */
  private int writeRefused;

  public LeasedPut(
      ClientContext context, Connections connections, Listener listener, PutOrder turns, int slot) {
    super(context, connections, listener, turns, slot);
    this.turns = turns;
  }

  @Override
  public void begin() {
    rewrites = 0;
    invalid = 0;
    writeRefused = Status.SUCCESS;
    super.begin();
  }

  /**
   * Takes space of the lease, or waits for one. Places of a lease are published in their order,
   * because the server takes none below one that was published: a put that came later waits for one
   * that has its place and could not be posted.
   */
  @Override
  protected void takePlace() {
    placeOrder = NO_PLACE;
    if (turns.hasUnposted(this)) {
      step = WAIT_PLACE;
      stall();
      return;
    }
    Leases leases = session.leases;
    Lease lease = leases.fitting(head, padded);
    if (lease == null) {
      step = WAIT_LEASE;
      leases.request(head, padded);
      return;
    }
    place = lease.take(padded);
    placeOrder = turns.next();
    reservation = lease.reservation;
    remoteKey = lease.remoteKey;
    offset = session.geometry.offset(lease.regionIndex, place);
    ObjectLayout.putChecksum(
        memory, OBJECT, crc ^ ObjectChecksum.positionMix(head, lease.generation, offset));
    serial++;
    step = ON_ITS_WAY;
    way = session.announces() ? announceFirst : publishLast;
    way.begin();
  }

  // What its way does.

  /**
   * Publishes the object without a message, where that can be done now.
   *
   * @return false when nothing was done
   */
  boolean publishNow() {
    LocalPublisher.Line line = session.line;
    if (line == null || condition != 0 || !turns.isAlone()) {
      return false;
    }
    built.reservation = reservation;
    built.head = head;
    built.offset = offset;
    built.memory = memory;
    built.bytes = bytes;
    built.keyLength = keyLength;
    built.keyWord = keyWord();
    built.delete = delete;
    int outcome = line.publish(built);
    switch (outcome) {
      case LocalPublisher.LATER -> {
        return false;
      }
      case LocalPublisher.FAILED -> fail(Refusals.failed(describe(), line.failure(), line.cause()));
      default -> {
        // It took effect, whatever becomes of the lease.
        Leases leases = session.leases;
        done(outcome == LocalPublisher.REPLACED);
        leases.placed(head, padded);
      }
    }
    return true;
  }

  /** WRITEs the object to its place. Returns false when the queue is full. */
  boolean postWrite() {
    write.id(WorkId.of(serial, slot)).local(region, OBJECT, padded).remote(remoteKey, place);
    return session.queuePair.post(write);
  }

  /** READs the root's first word behind the object. Returns false when the queue is full. */
  boolean postReadRoot() {
    readRoot
        .id(WorkId.of(serial, slot))
        .local(region, rootAt(), Long.BYTES)
        .remote(session.rootKey, 0);
    return session.queuePair.post(readRoot);
  }

  /** The server knows of the place: the lease may be done with. */
  void placed() {
    session.leases.placed(head, padded);
  }

  /** The flags of a request. */
  int flags() {
    return condition | (delete ? Message.FLAG_DELETE : 0);
  }

  /** Stores length and hash of the value that the key has to have into a request. */
  void putExpected(MemorySegment message, long lengthAt) {
    long hash = lengthAt + 2 * Integer.BYTES;
    Message.putInt(message, lengthAt, expectedLength);
    Message.putInt(message, lengthAt + Integer.BYTES, 0);
    Message.putLong(message, hash, expectedLow);
    Message.putLong(message, hash + Long.BYTES, expectedHigh);
  }

  /** Stores the key's length and the key into a request. */
  void putKey(MemorySegment message, long lengthAt, long keyAt) {
    Message.putInt(message, lengthAt, keyLength);
    Message.putInt(message, lengthAt + 4, 0);
    MemorySegment.copy(memory, OBJECT + ObjectLayout.KEY_OFFSET, message, keyAt, keyLength);
  }

  /** It has taken effect. */
  void done(boolean keyExisted) {
    existed = keyExisted;
    finish();
  }

  /** Gives up the rest of the lease, which can't be written to. */
  void dropLease() {
    session.leases.drop(head, reservation);
  }

  /** Whether the WRITE of this place failed. */
  boolean writeFailed() {
    return writeRefused != Status.SUCCESS;
  }

  @Override
  protected void onNoRoom(int result) {
    // ERASE knows no condition.
    boolean withoutSpace =
        result == Result.LOG_FULL
            || result == Result.DISK_FULL
            || result == Result.NOT_NOW
            || result == Result.OVER_QUOTA;
    if (delete && condition == 0 && withoutSpace) {
      step = POST_ERASE;
      postErase();
    } else {
      fail(Refusals.of(describe(), result, session.requests.reason()));
    }
  }

  private void postErase() {
    Requests requests = session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(slot);
    putKey(message, base + Message.ERASE_KEY_LENGTH, base + Message.ERASE_KEY);
    if (requests.send(slot, Message.ERASE, Message.ERASE_KEY + keyLength)) {
      step = ERASING;
    } else {
      stall();
    }
  }

  @Override
  public void onResponse(int type, int result, MemorySegment message, long base, int length) {
    switch (result) {
      case Result.OK -> {
        if (type == Message.ERASE) {
          done(Message.getInt(message, base + Message.ERASED_EXISTED) != 0);
        } else {
          way.onOk(message, base);
        }
      }
      case Result.CONFLICT -> {
        if (condition == 0) {
          session.fail("the server found a conflict for a " + describe());
        } else {
          way.onConflict();
          conflict = true;
          finish();
        }
      }
      case Result.UNDECIDED -> backOff(UNDECIDED_PAUSE_NS);
      case Result.NO_RESERVATION -> {
        dropLease();
        writeAgain(result);
      }
      case Result.INVALID_OBJECT -> {
        if (writeFailed()) {
          failUnwritten();
        } else if (++invalid > INVALID_MAX && !session.queuePair.unreached().isEmpty()) {
          // It was not written, so the server could not find it.
          writeRefused = Status.REMOTE_ACCESS;
          failUnwritten();
        } else if (invalid > INVALID_MAX) {
          fail(
              new ErdaException.Damaged(
                  describe()
                      + ": the server found what was written at head "
                      + head
                      + ", offset "
                      + offset
                      + " ("
                      + bytes
                      + " bytes) not to be the object, "
                      + invalid
                      + " times; the key is untouched"));
        } else {
          writeAgain(result);
        }
      }
      default -> fail(Refusals.of(describe(), result, session.requests.reason()));
    }
  }

  /** The WRITE could not be begun. */
  void failUnwritten() {
    if (writeRefused == Status.NO_SPACE) {
      fail(
          new ErdaException.Full(
              ErdaException.Full.What.DISK,
              describe() + ": " + session.queuePair.lostRegion() + "; the key is untouched"));
      return;
    }
    fail(
        new ErdaException.Unusable(
            describe()
                + ": a file of the store can't be written from here: "
                + (writeRefused == Status.MEMORY_LOST
                    ? session.queuePair.lostRegion()
                    : GetErrors.status(session.queuePair, writeRefused))
                + "; the key is untouched"));
  }

  private void writeAgain(int result) {
    if (++rewrites > REWRITES_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": refused "
                  + rewrites
                  + " times, the last time with: "
                  + Result.name(result)
                  + "; the key is untouched"));
      return;
    }
    context.counts().rewrites++;
    takePlace();
  }

  @Override
  protected boolean isUnposted() {
    return step == ON_ITS_WAY && way.isUnposted();
  }

  @Override
  public void onWriteFailed(long ofSerial, int status) {
    if (ofSerial != serial) {
      return;
    }
    if (status != Status.REMOTE_ACCESS) {
      // Where the server is told of an object that is not there, it says so.
      writeRefused = status;
    } else if (session != null) {
      way.onWriteRefused();
    }
  }

  @Override
  public void onRead(long ofSerial) {
    if (ofSerial == serial && step == ON_ITS_WAY) {
      way.onRead();
    }
  }

  @Override
  public void onReadFailed(long ofSerial, int status) {
    if (ofSerial == serial && step == ON_ITS_WAY) {
      session.fail("a READ behind a WRITE ended with: " + Status.name(status));
    }
  }

  @Override
  public void resume() {
    if (turns.hasUnposted(this)) {
      stall();
      return;
    }
    stalled = false;
    if (step == WAIT_PLACE) {
      takePlace();
    } else if (step == ON_ITS_WAY) {
      way.resume();
    } else if (step == POST_ERASE) {
      postErase();
    } else {
      restart();
    }
  }

  @Override
  public boolean published() {
    return step == ERASING || (step == ON_ITS_WAY && way.mayTakeEffect());
  }

  @Override
  protected boolean isDecidedByItsRequest() {
    return step != ON_ITS_WAY || way.isDecidedByItsRequest();
  }

  @Override
  protected boolean mayHaveBeenSent() {
    return published() || step == POST_ERASE || (step == ON_ITS_WAY && way.mayHaveBeenSent());
  }
}
