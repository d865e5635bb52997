package io.erda.client;

import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.Flags;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/**
 * A put or a delete that publishes last (design, "A put"): the object is WRITTEN into leased space,
 * PUBLISH is SENT behind it, and the server's response ends it. It takes one round trip while the
 * lease lasts.
 *
 * <p>A delete for which the log has no room asks the server to empty the entry instead (ERASE).
 *
 * <p>Nothing is replayed once a publish was posted: if the connection ends then, the outcome is
 * unknown. A publish that the server refused had no effect, so it may be done again elsewhere.
 */
final class PublishLastPut extends Put {
  private static final int POST_WRITE = PUT_STEPS;
  private static final int POST_PUBLISH = PUT_STEPS + 1;
  private static final int PUBLISHED = PUT_STEPS + 2;
  private static final int POST_ERASE = PUT_STEPS + 3;
  private static final int ERASING = PUT_STEPS + 4;

  /** It waits for puts that have a place in the same lease and could not be posted yet. */
  private static final int WAIT_PLACE = PUT_STEPS + 5;

  private static final int REWRITES_MAX = 8;
  private static final int INVALID_MAX = 1;

  private final PutOrder turns;
  private long serial;
  private long reservation;
  private int offset;
  private long remoteKey;
  private long place;
  private int rewrites;
  private int invalid;

  /** Why a WRITE of this operation could not be begun; SUCCESS when none was refused. */
  private int writeRefused;

  PublishLastPut(
      ClientContext context, Connections connections, Listener listener, PutOrder turns, int slot) {
    super(context, connections, listener, turns, slot);
    this.turns = turns;
  }

  @Override
  void begin() {
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
  void takePlace() {
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
    step = POST_WRITE;
    post();
  }

  private void post() {
    if (step == POST_WRITE) {
      if (!session.queuePair.postWrite(
          WorkId.of(serial, slot), region, OBJECT, remoteKey, place, padded, Flags.NONE)) {
        stall();
        return;
      }
      step = POST_PUBLISH;
    }
    Requests requests = session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(slot);
    Message.putLong(message, base + Message.PUBLISH_RESERVATION, reservation);
    Message.putInt(message, base + Message.PUBLISH_OFFSET, offset);
    Message.putInt(message, base + Message.PUBLISH_OBJECT_BYTES, bytes);
    Message.putInt(message, base + Message.PUBLISH_HEAD, head);
    Message.putInt(
        message, base + Message.PUBLISH_FLAGS, condition | (delete ? Message.FLAG_DELETE : 0));
    int length = Message.PUBLISH_REQUEST_BYTES;
    if (condition == Message.FLAG_IF_EQUAL) {
      putExpected(message, base);
      length = Message.PUBLISH_IF_EQUAL_BYTES;
    }
    if (!requests.send(slot, Message.PUBLISH, length)) {
      stall();
      return;
    }
    step = PUBLISHED;
    // This stands behind the publish, so that it costs this put nothing.
    session.leases.placed(head, padded);
  }

  private void putExpected(MemorySegment message, long base) {
    long hash = base + Message.PUBLISH_EXPECTED_HASH;
    Message.putInt(message, base + Message.PUBLISH_EXPECTED_LENGTH, expectedLength);
    Message.putInt(message, base + Message.PUBLISH_EXPECTED_LENGTH + Integer.BYTES, 0);
    Message.putLong(message, hash, expectedLow);
    Message.putLong(message, hash + Long.BYTES, expectedHigh);
  }

  @Override
  void onNoRoom(int result) {
    // ERASE knows no condition.
    if (delete && condition == 0 && (result == Result.LOG_FULL || result == Result.DISK_FULL)) {
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
    Message.putInt(message, base + Message.ERASE_KEY_LENGTH, keyLength);
    Message.putInt(message, base + Message.ERASE_KEY_LENGTH + 4, 0);
    MemorySegment.copy(
        memory, OBJECT + ObjectLayout.KEY_OFFSET, message, base + Message.ERASE_KEY, keyLength);
    if (requests.send(slot, Message.ERASE, Message.ERASE_KEY + keyLength)) {
      step = ERASING;
    } else {
      stall();
    }
  }

  @Override
  void onResponse(int type, int result, MemorySegment message, long base, int length) {
    switch (result) {
      case Result.OK -> {
        int at = type == Message.ERASE ? Message.ERASED_EXISTED : Message.PUBLISHED_EXISTED;
        existed = Message.getInt(message, base + at) != 0;
        finish();
      }
      case Result.CONFLICT -> {
        if (condition == 0) {
          session.fail("the server found a conflict for a " + describe());
        } else {
          conflict = true;
          finish();
        }
      }
      case Result.NO_RESERVATION -> {
        session.leases.drop(head, reservation);
        writeAgain(result);
      }
      case Result.INVALID_OBJECT -> {
        if (writeRefused != Status.SUCCESS) {
          fail(
              new ErdaException.Unusable(
                  describe()
                      + ": a file of the store can't be written from here: "
                      + (writeRefused == Status.MEMORY_LOST
                          ? session.queuePair.lostRegion()
                          : Status.name(writeRefused))
                      + "; the key is untouched"));
        } else if (++invalid > INVALID_MAX) {
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
  boolean isUnposted() {
    return step == POST_WRITE || step == POST_PUBLISH;
  }

  /**
   * A WRITE of this operation failed. The server decides: it publishes nothing that is not whole.
   */
  @Override
  void onWriteFailed(long ofSerial, int status) {
    if (ofSerial != serial) {
      return;
    }
    if (status != Status.REMOTE_ACCESS) {
      // The server is told of an object that is not there, and says so.
      writeRefused = status;
    } else if (session != null) {
      session.leases.drop(head, reservation);
    }
  }

  @Override
  void resume() {
    if (turns.hasUnposted(this)) {
      stall();
      return;
    }
    stalled = false;
    if (step == WAIT_PLACE) {
      takePlace();
    } else if (step == POST_WRITE || step == POST_PUBLISH) {
      post();
    } else if (step == POST_ERASE) {
      postErase();
    } else {
      restart();
    }
  }

  @Override
  boolean published() {
    return step == PUBLISHED || step == ERASING;
  }

  @Override
  boolean mayHaveBeenSent() {
    return published() || step == POST_PUBLISH || step == POST_ERASE;
  }
}
