package io.erda.server.engine.service;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.publishing.AnnouncedWords;
import io.erda.server.engine.publishing.Announcement;
import io.erda.server.engine.publishing.Condition;
import io.erda.server.engine.publishing.Reservation;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.Insertion;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/**
 * Answers announcements: stores the word that names the place, before the object is there, and lets
 * the client write (Erda paper, section 3.3). An announcement waits while its key has an undecided
 * put, or while undecided entries leave no room in the table. Waiting announcements are tried in
 * the order in which they came. One thread.
 */
final class Announcing {
  /** A result that means: the request is not answered yet. */
  private static final int WAITS = -1;

  /**
   * How long an announcement waits for room in the table while other words are undecided. Entries
   * with undecided words are neither displaced nor moved to a larger table; a doubling makes the
   * server decide them.
   */
  private static final long ROOM_NS = 2 * AnnouncedWords.WANTED_NS;

  /** An announcement that waits; its message slot stays occupied. */
  private record Waiting(Connection connection, int slot, Reservation reservation, long sinceNs) {}

  private final StoreEngine engine;
  private final StoreWriter writer;
  private final StoreFailures failures;
  private final SpaceRefusals refusals;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final Condition condition = new Condition();
  private long nowNs;

  /** A result of {@link #announce}: whether the key had a value. */
  private boolean existed;

  /** A result of {@link #announce}: whether the word names the place. */
  private boolean awaited;

  Announcing(
      StoreEngine engine, StoreWriter writer, StoreFailures failures, SpaceRefusals refusals) {
    this.engine = engine;
    this.writer = writer;
    this.failures = failures;
    this.refusals = refusals;
  }

  /** Number of announcements that wait. */
  int waiting() {
    return waiting.size();
  }

  void onAnnounce(
      Connection connection, int slot, MemorySegment in, long at, int received, long now) {
    nowNs = now;
    if (!isWellFormed(in, at, received)) {
      connection.respond(slot, Message.ANNOUNCE, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Reservation reservation =
        connection.reservations.get(Message.getLong(in, at + Message.ANNOUNCE_RESERVATION));
    if (failures.any()) {
      connection.refuse(slot, Message.ANNOUNCE, failures.refusal(), failures.reason());
    } else if (reservation == null
        || !reservation.take(
            engine.log().geometry(),
            Message.getInt(in, at + Message.ANNOUNCE_HEAD),
            Message.getInt(in, at + Message.ANNOUNCE_OFFSET),
            Message.getInt(in, at + Message.ANNOUNCE_OBJECT_BYTES),
            now)) {
      connection.respond(slot, Message.ANNOUNCE, Result.NO_RESERVATION, Message.HEADER_BYTES);
    } else {
      take(new Waiting(connection, slot, reservation, now));
    }
  }

  private boolean isWellFormed(MemorySegment in, long at, int received) {
    if (received < Message.ANNOUNCE_KEY) {
      return false;
    }
    int keyLength = Message.getInt(in, at + Message.ANNOUNCE_KEY_LENGTH);
    int bytes = Message.getInt(in, at + Message.ANNOUNCE_OBJECT_BYTES);
    int flags = Message.getInt(in, at + Message.ANNOUNCE_FLAGS);
    return keyLength >= 1
        && keyLength <= engine.keyBytesMax()
        && Condition.isKnown(flags)
        && received == keyAt(flags) + keyLength
        && Message.getInt(in, at + Message.ANNOUNCE_OFFSET) > 0
        && bytes >= ObjectLayout.bytes(keyLength, 0)
        && bytes <= engine.log().geometry().objectBytesMax()
        && Entry.headOf(engine.keyWord(in, at + keyAt(flags), keyLength))
            == Message.getInt(in, at + Message.ANNOUNCE_HEAD);
  }

  /** Where the key begins in a request with these flags. */
  private static int keyAt(int flags) {
    return Condition.namesValue(flags) ? Message.ANNOUNCE_IF_EQUAL_KEY : Message.ANNOUNCE_KEY;
  }

  /** Tries the waiting announcements again. Returns how many were answered. */
  int doWork(long now) {
    int before = waiting.size();
    nowNs = now;
    for (int i = 0; i < before; i++) {
      take(waiting.remove());
    }
    return before - waiting.size();
  }

  /** Drops the announcements of a client that is gone. */
  void gone(Connection connection) {
    waiting.removeIf(each -> each.connection == connection);
  }

  private void take(Waiting request) {
    Connection connection = request.connection;
    int slot = request.slot;
    if (connection.reservations.get(request.reservation.id) != request.reservation
        || !connection.claim()) {
      connection.respond(slot, Message.ANNOUNCE, Result.NO_RESERVATION, Message.HEADER_BYTES);
      connection.finish();
      return;
    }
    Integer result = failures.any() ? null : failures.result(() -> announce(request));
    if (result == null) {
      connection.refuse(slot, Message.ANNOUNCE, failures.refusal(), failures.reason());
    } else if (result == WAITS) {
      waiting.add(request);
      return;
    } else {
      answer(request, result);
    }
    connection.finish();
  }

  private void answer(Waiting request, int result) {
    Connection connection = request.connection;
    int slot = request.slot;
    if (Insertion.isRefusal(result)) {
      refusals.add(
          Insertion.full(result),
          connection,
          request.reservation.extent.region().head(),
          request.reservation.extent.length());
    }
    if (Result.saysWhy(result)) {
      connection.refuse(slot, Message.ANNOUNCE, result, writer.insertion().reason(result));
      return;
    }
    MemorySegment out = connection.buffers();
    long at = Connection.responseAt(slot);
    Message.putInt(out, at + Message.ANNOUNCED_EXISTED, existed ? 1 : 0);
    Message.putInt(out, at + Message.ANNOUNCED_AWAITED, awaited ? 1 : 0);
    connection.respond(slot, Message.ANNOUNCE, result, Message.ANNOUNCE_RESPONSE_BYTES);
  }

  /**
   * Stores the word, in one step with the look-up and the check of the condition. The condition
   * still holds when the object becomes whole: no other put of the key is announced until this one
   * is decided.
   */
  private int announce(Waiting request) {
    MemorySegment in = request.connection.buffers();
    long at = Connection.requestAt(request.slot);
    int keyLength = Message.getInt(in, at + Message.ANNOUNCE_KEY_LENGTH);
    int offset = Message.getInt(in, at + Message.ANNOUNCE_OFFSET);
    int flags = Message.getInt(in, at + Message.ANNOUNCE_FLAGS);
    boolean delete = (flags & Message.FLAG_DELETE) != 0;
    condition.take(flags, in, at + Message.ANNOUNCE_EXPECTED_LENGTH);
    long keyAt = at + keyAt(flags);
    long keyWord = engine.keyWord(in, keyAt, keyLength);
    existed = false;
    awaited = false;
    while (true) {
      long entry = writer.findDecided(keyWord, in, keyAt, keyLength);
      if (entry != Tables.NONE) {
        long word = engine.tables().versionWord(entry);
        if (VersionWord.pending(word)) {
          return WAITS;
        }
        int tested =
            condition.test(engine.objects(), Entry.headOf(keyWord), VersionWord.newest(word));
        if (tested != Result.OK) {
          return tested;
        }
        existed = engine.objects().isValue(Entry.headOf(keyWord), VersionWord.newest(word));
        if (delete && !existed) {
          return Result.OK;
        }
        if (!engine
            .tables()
            .storeWord(entry, keyWord, word, VersionWord.update(word, offset, true))) {
          throw new IllegalStateException("entry " + entry + " changed under its only writer");
        }
        break;
      }
      if (condition.wantsValue()) {
        return Result.CONFLICT;
      }
      if (delete) {
        return Result.OK;
      }
      if (writer.insertion().insert(keyWord, VersionWord.first(offset, true)) != Tables.NONE) {
        break;
      }
      if (!writer.insertion().makeRoom(keyWord)) {
        boolean roomSoon = writer.announced().anyLive() && nowNs - request.sinceNs < ROOM_NS;
        int refusal = writer.insertion().refusal(keyWord);
        return refusal != Result.DISK_FULL && roomSoon ? WAITS : refusal;
      }
    }
    awaited = true;
    writer
        .announced()
        .announced(
            new Announcement(request.connection, request.reservation, keyWord, offset, nowNs));
    return Result.OK;
  }

  void onReport(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.REPORT_REQUEST_BYTES) {
      connection.respond(slot, Message.REPORT, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    long keyWord = Message.getLong(in, at + Message.REPORT_KEY_WORD);
    int offset = Message.getInt(in, at + Message.REPORT_OFFSET);
    if (!failures.any() && offset > 0) {
      failures.attempt(() -> writer.announced().reported(keyWord, offset));
    }
    connection.respond(slot, Message.REPORT, Result.OK, Message.HEADER_BYTES);
  }
}
