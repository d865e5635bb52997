package io.erda.client.puts;

import io.erda.client.connections.Requests;
import io.erda.protocol.Message;
import io.erda.protocol.Root;
import java.lang.foreign.MemorySegment;

/**
 * Announces first (Erda paper, section 3.3): the server is told of the place and stores it in the
 * key's word; then the object is WRITTEN there, and the put has taken effect when it is whole. A
 * READ behind the WRITE ends when the WRITE has landed. Both must have succeeded on a connection
 * that the server had not closed: it closes it before it takes a version back.
 *
 * <p>What was announced and not WRITTEN never takes effect, and may be done again elsewhere. What
 * was WRITTEN may have, when the connection ends then. A condition is looked at when the place is
 * announced; from then on until the put is decided the key has no other.
 */
final class AnnounceFirst implements PutWay {
  private static final int ANNOUNCE = 0;
  private static final int ANNOUNCED = 1;
  private static final int WRITE = 2;
  private static final int READ = 3;
  private static final int READING = 4;

  private final LeasedPut put;
  private int next;
  private boolean existed;

  AnnounceFirst(LeasedPut put) {
    this.put = put;
  }

  @Override
  public void begin() {
    next = ANNOUNCE;
    announce();
  }

  @Override
  public void resume() {
    if (next == ANNOUNCE) {
      announce();
    } else {
      write();
    }
  }

  private void announce() {
    Requests requests = put.session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(put.slot);
    Message.putLong(message, base + Message.ANNOUNCE_RESERVATION, put.reservation);
    Message.putInt(message, base + Message.ANNOUNCE_OFFSET, put.offset);
    Message.putInt(message, base + Message.ANNOUNCE_OBJECT_BYTES, put.bytes);
    Message.putInt(message, base + Message.ANNOUNCE_HEAD, put.head);
    Message.putInt(message, base + Message.ANNOUNCE_FLAGS, put.flags());
    int keyAt = Message.ANNOUNCE_KEY;
    if (put.condition == Message.FLAG_IF_EQUAL) {
      put.putExpected(message, base + Message.ANNOUNCE_EXPECTED_LENGTH);
      keyAt = Message.ANNOUNCE_IF_EQUAL_KEY;
    }
    put.putKey(message, base + Message.ANNOUNCE_KEY_LENGTH, base + keyAt);
    if (!requests.send(put.slot, Message.ANNOUNCE, keyAt + put.keyLength)) {
      put.stall();
      return;
    }
    next = ANNOUNCED;
  }

  @Override
  public void onOk(MemorySegment message, long base) {
    existed = Message.getInt(message, base + Message.ANNOUNCED_EXISTED) != 0;
    if (Message.getInt(message, base + Message.ANNOUNCED_AWAITED) == 0) {
      put.placed();
      put.done(existed);
      return;
    }
    next = WRITE;
    write();
    // Not before: an announcement may wait at the server, where its lease must not have ended.
    put.placed();
  }

  @Override
  public void onConflict() {
    put.placed();
  }

  private void write() {
    if (next == WRITE) {
      if (!put.postWrite()) {
        put.stall();
        return;
      }
      next = READ;
    }
    if (put.postReadRoot()) {
      next = READING;
    } else {
      put.stall();
    }
  }

  @Override
  public void onRead() {
    if (next != READING || !put.session.ready()) {
      // The connection ended: what becomes of the put is told with that.
      return;
    }
    long incarnation = Root.incarnation(put.memory, put.rootAt());
    if (incarnation != put.session.welcome.incarnation()) {
      put.session.fail(
          "the server was started anew (incarnation " + Long.toHexString(incarnation) + ")");
    } else if (put.writeFailed()) {
      put.failUnwritten();
    } else {
      put.done(existed);
    }
  }

  @Override
  public void onWriteRefused() {
    // Nobody revokes what was announced, so this is a device that ends: what it did is not known.
    put.session.fail("a WRITE to a place that was announced was refused");
  }

  @Override
  public boolean isUnposted() {
    return next == ANNOUNCE;
  }

  @Override
  public boolean mayTakeEffect() {
    return next >= READ;
  }

  @Override
  public boolean mayHaveBeenSent() {
    return next >= WRITE;
  }

  /** It is decided by the WRITE, which may land until the server has noticed the end. */
  @Override
  public boolean isDecidedByItsRequest() {
    return false;
  }
}
