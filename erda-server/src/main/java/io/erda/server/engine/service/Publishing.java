package io.erda.server.engine.service;

import io.erda.client.connections.LocalPublisher;
import io.erda.logstore.Extent;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.publishing.Condition;
import io.erda.server.engine.publishing.Publication;
import io.erda.server.engine.publishing.PublishRequest;
import io.erda.server.engine.publishing.Reservation;
import io.erda.server.engine.publishing.Syncs;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.Insertion;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Collects the publications that arrive in one step, publishes them as one batch, and answers. One
 * thread. Allocates only when a batch is larger than all before it.
 *
 * <p>While a batch waits for a device ({@link Syncs}) the server goes on, and collects the next
 * batch. Clients that were just answered may send again soon. So the next batch waits for one more
 * request for each request that was answered, but no longer than a part of the time that the
 * previous batch took.
 */
final class Publishing {
  /**
   * A batch of this size is published without waiting for more requests. While a batch is under way
   * more requests are collected: as many as all clients may have sent.
   */
  private static final int BATCH_ENOUGH = 64;

  /** A batch waits for others at most for this part of the time that the previous batch took. */
  private static final int GATHERING_PART = 3;

  private static final long GATHERING_NS_MAX = 5_000_000;

  private static final MemoryGuard.Access<PersistentMemory, MemorySegment> PUT =
      (memory, object, place, bytes, _, _) -> {
        memory.put(place, object, 0, bytes);
        return 0;
      };

  /** Requests, and the connections to answer. */
  private static final class Batch {
    PublishRequest[] requests = new PublishRequest[0];

    /** By index: the connection to answer, and the message slot. */
    Connection[] askers = new Connection[0];

    int[] slots = new int[0];
    int count;

    /** How many requests were answered. */
    int answered;

    Batch() {
      grow(BATCH_ENOUGH);
    }

    /** Makes room for one more request. */
    void makeRoom() {
      if (count == requests.length) {
        grow(2 * count);
      }
    }

    private void grow(int size) {
      int before = requests.length;
      requests = Arrays.copyOf(requests, size);
      askers = Arrays.copyOf(askers, size);
      slots = Arrays.copyOf(slots, size);
      for (int i = before; i < size; i++) {
        requests[i] = new PublishRequest();
      }
    }

    void clear() {
      for (int i = 0; i < count; i++) {
        requests[i].requester = null;
        requests[i].extent = null;
        askers[i] = null;
      }
      count = 0;
      answered = 0;
    }

    boolean isOf(Connection connection) {
      for (int i = 0; i < count; i++) {
        if (askers[i] == connection) {
          return true;
        }
      }
      return false;
    }

    boolean isIn(Extent extent) {
      for (int i = 0; i < count; i++) {
        if (requests[i].extent == extent) {
          return true;
        }
      }
      return false;
    }

    boolean isIn(Region region) {
      for (int i = 0; i < count; i++) {
        if (requests[i].region() == region) {
          return true;
        }
      }
      return false;
    }
  }

  private final Publication publication;
  private final Insertion insertion;
  private final LogGeometry geometry;
  private final StoreFailures failures;
  private final SpaceRefusals refusals;
  private final LongSupplier nanoTime;
  private final Runnable beginning = this::begin;
  private final Runnable advancing = this::advance;
  private final Syncs syncs;

  private Batch collected = new Batch();

  /** The batch that is being published; empty when none is. */
  private Batch underWay = new Batch();

  /** Whether every request of the batch under way has its outcome. */
  private boolean over;

  // The request of a client in this process that publishes without a message.

  private final PublishRequest now = new PublishRequest();
  private final PublishRequest[] nowBatch = {now};
  private final Runnable storing = this::publishStored;
  private final MemoryGuard faults = new MemoryGuard();

  // The following fields are used only when batches wait for a device.

  private long gatheringSinceNs;
  private long begunNs;
  private long lastTookNs;

  /**
   * How many requests the next batch may get: those that came while the previous batch was under
   * way, and one for each request that was answered.
   */
  private int expected;

  private long groups;

  /**
   * @param syncs the object by which the writer waits for the device
   */
  Publishing(
      StoreWriter writer,
      LogGeometry geometry,
      Syncs syncs,
      StoreFailures failures,
      SpaceRefusals refusals,
      LongSupplier nanoTime) {
    this.publication = writer.publication();
    this.insertion = writer.insertion();
    this.geometry = geometry;
    this.syncs = syncs;
    this.failures = failures;
    this.refusals = refusals;
    this.nanoTime = nanoTime;
  }

  /** Whether no batch waits for a device. */
  boolean isAtOnce() {
    return syncs.isAtOnce();
  }

  /** Number of batches that waited for a device. */
  long groups() {
    return groups;
  }

  void onPublish(
      Connection connection, int slot, MemorySegment in, long at, int received, long nowNs) {
    if (!wellFormed(in, at, received)) {
      connection.respond(slot, Message.PUBLISH, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    collected.makeRoom();
    int result = admit(connection, in, at, nowNs);
    if (result != Result.OK) {
      publish();
      if (failures.any() && result == failures.refusal()) {
        connection.refuse(slot, Message.PUBLISH, result, failures.reason());
      } else {
        connection.respond(slot, Message.PUBLISH, result, Message.HEADER_BYTES);
      }
      return;
    }
    int place = collected.count++;
    collected.requests[place].requester = connection;
    collected.askers[place] = connection;
    collected.slots[place] = slot;
    if (collected.count >= BATCH_ENOUGH) {
      publish();
    }
  }

  /**
   * Stores an object that a client of this process has built at its place, and publishes it now.
   * Declines when other work must be done first.
   *
   * @return a constant of {@link LocalPublisher}
   */
  int publishNow(Connection connection, LocalPublisher.Built object) {
    if (failures.any() || !syncs.isAtOnce() || underWay.count + collected.count > 0) {
      return LocalPublisher.LATER;
    }
    Reservation reservation = connection.reservations.get(object.reservation);
    if (reservation == null) {
      return LocalPublisher.LATER;
    }
    long before = reservation.nextPlace;
    if (!reservation.take(geometry, object.head, object.offset, object.bytes)) {
      return LocalPublisher.LATER;
    }
    if (!store(reservation.extent.region(), geometry.place(object.offset), object)) {
      reservation.nextPlace = before;
      return LocalPublisher.LATER;
    }
    now.extent = reservation.extent;
    now.place = geometry.place(object.offset);
    now.offset = object.offset;
    now.bytes = object.bytes;
    now.delete = object.delete;
    now.checked = true;
    now.keyLength = object.keyLength;
    now.keyWord = object.keyWord;
    boolean done = failures.attempt(storing);
    now.extent = null;
    if (!done) {
      publication.abandon();
      return LocalPublisher.FAILED;
    }
    if (now.result != Result.OK) {
      // Nothing was done. The client sends a message instead, and the answer has the reason.
      reservation.nextPlace = before;
      return LocalPublisher.LATER;
    }
    return now.existed ? LocalPublisher.REPLACED : LocalPublisher.DONE;
  }

  /**
   * Stores the object, which no word names yet. Returns false when a page of the region is missing,
   * because the disk has no room for it or the file was shortened. The client's WRITE then finds
   * out the reason.
   */
  private boolean store(Region region, long place, LocalPublisher.Built object) {
    try {
      int bytes = ObjectLayout.padded(object.bytes);
      return faults.access(PUT, region.memory(), object.memory, place, bytes, 0, 0)
          != MemoryGuard.FAULT;
    } catch (FailedStoreException e) {
      return false;
    }
  }

  private void publishStored() {
    publication.begin(nowBatch, 1);
    if (!publication.advance()) {
      throw new IllegalStateException("a put waits, where nothing is waited for");
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
   * Adds a request to the batch, if its place belongs to an open reservation of this client and was
   * not published before.
   */
  private int admit(Connection connection, MemorySegment in, long at, long nowNs) {
    if (failures.any()) {
      return failures.refusal();
    }
    Reservation reservation =
        connection.reservations.get(Message.getLong(in, at + Message.PUBLISH_RESERVATION));
    if (reservation == null) {
      return Result.NO_RESERVATION;
    }
    Extent extent = reservation.extent;
    int offset = Message.getInt(in, at + Message.PUBLISH_OFFSET);
    int bytes = Message.getInt(in, at + Message.PUBLISH_OBJECT_BYTES);
    if (offset <= 0 || bytes <= ObjectLayout.HEADER_BYTES || bytes > extent.length()) {
      return Result.BAD_REQUEST;
    }
    int head = Message.getInt(in, at + Message.PUBLISH_HEAD);
    if (!reservation.take(geometry, head, offset, bytes, nowNs)) {
      return Result.NO_RESERVATION;
    }
    PublishRequest request = collected.requests[collected.count];
    request.extent = extent;
    request.place = geometry.place(offset);
    request.offset = offset;
    request.bytes = bytes;
    int flags = Message.getInt(in, at + Message.PUBLISH_FLAGS);
    request.delete = (flags & Message.FLAG_DELETE) != 0;
    request.condition.take(flags, in, at + Message.PUBLISH_EXPECTED_LENGTH);
    return Result.OK;
  }

  /**
   * Goes on with the current batch, answers the finished requests, and begins the next batch.
   * Returns how many requests were answered. An exception drops all requests that were not
   * answered, and the server ends.
   */
  int publish() {
    int before = underWay.count - underWay.answered + collected.count;
    if (before == 0) {
      return 0;
    }
    boolean done = false;
    try {
      goOn();
      while (underWay.count == 0 && collected.count > 0 && !gathers()) {
        beginWithCollected();
      }
      done = true;
    } finally {
      if (!done) {
        forget();
      }
    }
    return before - (underWay.count - underWay.answered + collected.count);
  }

  /** Whether requests wait for others to join their batch. */
  boolean gathers() {
    return !syncs.isAtOnce()
        && underWay.count == 0
        && collected.count > 0
        && collected.count < Math.min(expected, BATCH_ENOUGH)
        && nanoTime.getAsLong() - gatheringSinceNs
            < Math.min(lastTookNs / GATHERING_PART, GATHERING_NS_MAX);
  }

  /**
   * Publishes all requests that arrived, and answers them; waits for the device if necessary. An
   * exception drops all requests that were not answered, and the server ends.
   */
  void finish() {
    boolean finished = false;
    try {
      while (underWay.count > 0 || collected.count > 0) {
        if (underWay.count == 0) {
          beginWithCollected();
        } else {
          awaitBatch();
        }
      }
      finished = true;
    } finally {
      if (!finished) {
        forget();
      }
    }
  }

  /** As {@link #finish()}, if there are requests of the connection. */
  void finish(Connection connection) {
    finish(underWay.isOf(connection), collected.isOf(connection));
  }

  /** As {@link #finish()}, if there are requests in the extent. */
  void finish(Extent extent) {
    finish(underWay.isIn(extent), collected.isIn(extent));
  }

  /** As {@link #finish()}, if there are requests in the region. */
  void finish(Region region) {
    finish(underWay.isIn(region), collected.isIn(region));
  }

  private void finish(boolean ofUnderWay, boolean ofCollected) {
    if (ofCollected) {
      finish();
    } else if (ofUnderWay) {
      boolean finished = false;
      try {
        awaitBatch();
        finished = true;
      } finally {
        if (!finished) {
          forget();
        }
      }
    }
  }

  /** Drops all requests that were not answered, as the end of the process would. */
  void forget() {
    publication.abandon();
    underWay.clear();
    collected.clear();
  }

  private void awaitBatch() {
    while (underWay.count > 0) {
      syncs.await();
      goOn();
    }
  }

  private void beginWithCollected() {
    Batch next = collected;
    collected = underWay;
    underWay = next;
    if (!syncs.isAtOnce()) {
      begunNs = nanoTime.getAsLong();
      groups++;
    }
    over = false;
    if (!failures.any() && failures.attempt(beginning)) {
      goOn();
    } else {
      fail();
    }
  }

  private void begin() {
    publication.begin(underWay.requests, underWay.count);
  }

  private void advance() {
    over = publication.advance();
  }

  private void goOn() {
    if (underWay.count == 0) {
      return;
    }
    // After a failure the state of the store is not reliable.
    if (failures.any() || !failures.attempt(advancing) || failures.any()) {
      fail();
      return;
    }
    answerUntil(publication.decided());
    if (over) {
      end();
    }
  }

  private void fail() {
    publication.abandon();
    for (int i = underWay.answered; i < underWay.count; i++) {
      underWay.requests[i].result = Result.FAILED;
    }
    answerUntil(underWay.count);
    end();
  }

  private void answerUntil(int end) {
    for (; underWay.answered < end; underWay.answered++) {
      int i = underWay.answered;
      PublishRequest request = underWay.requests[i];
      if (Insertion.isRefusal(request.result)) {
        refusals.add(
            Insertion.full(request.result),
            underWay.askers[i],
            request.extent.region().head(),
            request.bytes);
      }
      answer(underWay.askers[i], underWay.slots[i], request);
    }
  }

  /** Ends the batch, in which all requests were answered. */
  private void end() {
    if (!syncs.isAtOnce()) {
      gatheringSinceNs = nanoTime.getAsLong();
      lastTookNs = gatheringSinceNs - begunNs;
      expected = underWay.count + collected.count;
    }
    for (int i = 0; i < underWay.count; i++) {
      Connection asker = underWay.askers[i];
      boolean last = i + 1 == underWay.count || underWay.askers[i + 1] != asker;
      if (last) {
        asker.finish();
      }
    }
    underWay.clear();
  }

  private void answer(Connection connection, int slot, PublishRequest request) {
    if (request.result == Result.FAILED) {
      connection.refuse(slot, Message.PUBLISH, Result.FAILED, failures.reason());
    } else if (Result.saysWhy(request.result)) {
      String why = insertion.reason(request.result);
      connection.refuse(slot, Message.PUBLISH, request.result, why);
    } else {
      Message.putLong(
          connection.buffers(),
          Connection.responseAt(slot) + Message.PUBLISHED_EXISTED,
          request.existed ? 1 : 0);
      connection.respond(slot, Message.PUBLISH, request.result, Message.PUBLISH_RESPONSE_BYTES);
    }
  }
}
