package io.erda.server.engine;

import io.erda.logstore.Extent;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;

/**
 * Collects the publications that arrive in one step, lets them be published as one batch, and
 * answers. One thread. Allocates nothing.
 */
final class Publishing {
  private static final int BATCH_MAX = 64;

  private final StoreEngine engine;
  private final StoreFailures failures;
  private final SpaceRefusals refusals;
  private final PublishRequest[] batch = new PublishRequest[BATCH_MAX];

  /** By place in the batch: who is answered, and in which message slot. */
  private final Connection[] askers = new Connection[BATCH_MAX];

  private final int[] slots = new int[BATCH_MAX];
  private final Runnable publishing = this::doPublish;

  /** Requests that were collected. */
  private int count;

  /** Requests that are being published. */
  private int published;

  Publishing(StoreEngine engine, StoreFailures failures, SpaceRefusals refusals) {
    this.engine = engine;
    this.failures = failures;
    this.refusals = refusals;
    for (int i = 0; i < BATCH_MAX; i++) {
      batch[i] = new PublishRequest();
    }
  }

  void onPublish(
      Connection connection, int slot, MemorySegment in, long at, int received, long nowNs) {
    if (!wellFormed(in, at, received)) {
      connection.respond(slot, Message.PUBLISH, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    int result = admit(connection, in, at, nowNs);
    if (result != Result.OK) {
      publish();
      if (result == Result.READ_ONLY) {
        connection.refuse(slot, Message.PUBLISH, result, failures.reason());
      } else {
        connection.respond(slot, Message.PUBLISH, result, Message.HEADER_BYTES);
      }
      return;
    }
    batch[count].requester = connection;
    askers[count] = connection;
    slots[count] = slot;
    count++;
    if (count == BATCH_MAX) {
      publish();
    }
  }

  private static boolean wellFormed(MemorySegment in, long at, int received) {
    if (received < Message.PUBLISH_REQUEST_BYTES) {
      return false;
    }
    int flags = Message.getInt(in, at + Message.PUBLISH_FLAGS);
    return Condition.isKnown(flags)
        && received
            == (Condition.namesValue(flags)
                ? Message.PUBLISH_IF_EQUAL_BYTES
                : Message.PUBLISH_REQUEST_BYTES);
  }

  /**
   * Fills the next request of the batch, if the place belongs to an open reservation of this client
   * and was not published before.
   */
  private int admit(Connection connection, MemorySegment in, long at, long nowNs) {
    if (failures.any()) {
      return Result.READ_ONLY;
    }
    Reservation reservation =
        connection.reservations.get(Message.getLong(in, at + Message.PUBLISH_RESERVATION));
    if (reservation == null) {
      return Result.NO_RESERVATION;
    }
    LogStore log = engine.log();
    Extent extent = reservation.extent;
    int offset = Message.getInt(in, at + Message.PUBLISH_OFFSET);
    int bytes = Message.getInt(in, at + Message.PUBLISH_OBJECT_BYTES);
    if (offset <= 0 || bytes <= ObjectLayout.HEADER_BYTES || bytes > extent.length()) {
      return Result.BAD_REQUEST;
    }
    int head = Message.getInt(in, at + Message.PUBLISH_HEAD);
    if (!reservation.take(log.geometry(), head, offset, bytes, nowNs)) {
      return Result.NO_RESERVATION;
    }
    PublishRequest request = batch[count];
    request.extent = extent;
    request.place = log.geometry().place(offset);
    request.offset = offset;
    request.bytes = bytes;
    int flags = Message.getInt(in, at + Message.PUBLISH_FLAGS);
    request.delete = (flags & Message.FLAG_DELETE) != 0;
    request.condition.take(flags, in, at + Message.PUBLISH_EXPECTED_LENGTH);
    return Result.OK;
  }

  /** Publishes what was collected, and answers. */
  void publish() {
    if (count == 0) {
      return;
    }
    published = count;
    count = 0;
    if (!failures.attempt(publishing)) {
      for (int i = 0; i < published; i++) {
        batch[i].result = Result.FAILED;
      }
    }
    for (int i = 0; i < published; i++) {
      PublishRequest request = batch[i];
      Connection connection = askers[i];
      if (request.result == Result.TABLE_FULL || request.result == Result.DISK_FULL) {
        refusals.add(
            request.result == Result.TABLE_FULL ? "TABLE" : "DISK",
            connection,
            request.extent.region().head(),
            request.bytes);
      }
      answer(connection, slots[i], request);
      if (i + 1 == published || askers[i + 1] != connection) {
        connection.settle();
      }
      request.requester = null;
      askers[i] = null;
      request.extent = null;
    }
  }

  private void answer(Connection connection, int slot, PublishRequest request) {
    if (request.result == Result.FAILED) {
      connection.refuse(slot, Message.PUBLISH, Result.FAILED, failures.reason());
    } else if (request.result == Result.NOT_NOW) {
      connection.refuse(
          slot,
          Message.PUBLISH,
          Result.NOT_NOW,
          "the hash table is full, and the file of a larger one is being made");
    } else {
      Message.putLong(
          connection.buffers(),
          Connection.responseAt(slot) + Message.PUBLISHED_EXISTED,
          request.existed ? 1 : 0);
      connection.respond(slot, Message.PUBLISH, request.result, Message.PUBLISH_RESPONSE_BYTES);
    }
  }

  private void doPublish() {
    engine.publication().publish(batch, published);
  }
}
