package io.erda.client.puts;

import io.erda.client.connections.Requests;
import io.erda.protocol.Message;
import java.lang.foreign.MemorySegment;

/**
 * Publishes last (design, "A put"): the object is WRITTEN into leased space, PUBLISH is SENT behind
 * it, and the server's response ends the put. It takes one round trip while the lease lasts, and
 * none where the server is in this process and can take the object at once.
 *
 * <p>Nothing is replayed once a publish was posted: if the connection ends then, the outcome is
 * unknown.
 */
final class PublishLast implements PutWay {
  private static final int WRITE = 0;
  private static final int PUBLISH = 1;
  private static final int PUBLISHED = 2;

  private final LeasedPut put;
  private int next;

  PublishLast(LeasedPut put) {
    this.put = put;
  }

  @Override
  public void begin() {
    next = WRITE;
    if (!put.publishNow()) {
      post();
    }
  }

  @Override
  public void resume() {
    post();
  }

  private void post() {
    if (next == WRITE) {
      if (!put.postWrite()) {
        put.stall();
        return;
      }
      next = PUBLISH;
    }
    Requests requests = put.session.requests;
    MemorySegment message = requests.memory;
    long base = requests.at(put.slot);
    Message.putLong(message, base + Message.PUBLISH_RESERVATION, put.reservation);
    Message.putInt(message, base + Message.PUBLISH_OFFSET, put.offset);
    Message.putInt(message, base + Message.PUBLISH_OBJECT_BYTES, put.bytes);
    Message.putInt(message, base + Message.PUBLISH_HEAD, put.head);
    Message.putInt(message, base + Message.PUBLISH_FLAGS, put.flags());
    int length = Message.PUBLISH_REQUEST_BYTES;
    if (put.condition == Message.FLAG_IF_EQUAL) {
      put.putExpected(message, base + Message.PUBLISH_EXPECTED_LENGTH);
      length = Message.PUBLISH_IF_EQUAL_BYTES;
    }
    if (!requests.send(put.slot, Message.PUBLISH, length)) {
      put.stall();
      return;
    }
    next = PUBLISHED;
    // This stands behind the publish, so that it costs this put nothing.
    put.placed();
  }

  @Override
  public boolean isUnposted() {
    return next != PUBLISHED;
  }

  @Override
  public boolean mayTakeEffect() {
    return next == PUBLISHED;
  }

  @Override
  public boolean mayHaveBeenSent() {
    return next != WRITE;
  }

  @Override
  public boolean isDecidedByItsRequest() {
    return true;
  }

  @Override
  public void onOk(MemorySegment message, long base) {
    put.done(Message.getInt(message, base + Message.PUBLISHED_EXISTED) != 0);
  }

  @Override
  public void onConflict() {
    // The lease was told when it was posted.
  }

  @Override
  public void onWriteRefused() {
    // The server decides: it publishes nothing that is not whole.
    put.dropLease();
  }

  @Override
  public void onRead() {
    throw new IllegalStateException("a publication READs nothing");
  }
}
