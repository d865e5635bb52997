package io.erda.server.engine.service;

import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreFailures;
import io.erda.server.engine.store.StoreWriter;
import java.lang.foreign.MemorySegment;

/**
 * Answers requests that name a key: RESOLVE checks whether its object is damaged, and ERASE deletes
 * it without taking space in the log.
 */
final class KeyRequests {
  private final StoreEngine engine;
  private final StoreWriter writer;
  private final StoreFailures failures;
  private final Publishing publishing;

  KeyRequests(
      StoreEngine engine, StoreWriter writer, StoreFailures failures, Publishing publishing) {
    this.engine = engine;
    this.writer = writer;
    this.failures = failures;
    this.publishing = publishing;
  }

  void onResolve(Connection connection, int slot, MemorySegment in, long at, int received) {
    int result = Result.BAD_REQUEST;
    if (keyFits(in, at, received)) {
      int keyLength = Message.getInt(in, at + Message.RESOLVE_KEY_LENGTH);
      result = resolve(in, at + Message.RESOLVE_KEY, keyLength);
    }
    connection.respond(slot, Message.RESOLVE, result, Message.RESOLVE_RESPONSE_BYTES);
  }

  private int resolve(MemorySegment in, long keyAt, int keyLength) {
    return failures.result(() -> engine.resolve(in, keyAt, keyLength))
            == StoreEngine.Resolution.SOUND
        ? Result.OK
        : Result.DAMAGED;
  }

  void onErase(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (!keyFits(in, at, received)) {
      connection.respond(slot, Message.ERASE, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    if (failures.any()) {
      connection.refuse(slot, Message.ERASE, failures.refusal(), failures.reason());
      return;
    }
    if (!connection.claim()) {
      connection.respond(slot, Message.ERASE, Result.NO_RESERVATION, Message.HEADER_BYTES);
      connection.finish();
      return;
    }
    int keyLength = Message.getInt(in, at + Message.ERASE_KEY_LENGTH);
    StoreWriter.Erasure erasure = erase(in, at + Message.ERASE_KEY, keyLength);
    if (erasure == null) {
      connection.refuse(slot, Message.ERASE, Result.FAILED, failures.reason());
      return;
    }
    if (erasure == StoreWriter.Erasure.NOT_NOW) {
      connection.respond(slot, Message.ERASE, Result.UNDECIDED, Message.HEADER_BYTES);
    } else {
      Message.putLong(
          connection.buffers(),
          Connection.responseAt(slot) + Message.ERASED_EXISTED,
          erasure == StoreWriter.Erasure.ERASED ? 1 : 0);
      connection.respond(slot, Message.ERASE, Result.OK, Message.ERASE_RESPONSE_BYTES);
    }
    connection.finish();
  }

  /**
   * Erases a key, after finishing a put under way that may be of the same key. Returns null when
   * the store failed.
   */
  private StoreWriter.Erasure erase(MemorySegment in, long keyAt, int keyLength) {
    StoreWriter.Erasure erasure = failures.result(() -> writer.erase(in, keyAt, keyLength));
    if (erasure == StoreWriter.Erasure.NOT_NOW && engine.pending().anyLive()) {
      publishing.finish();
      erasure = failures.any() ? null : failures.result(() -> writer.erase(in, keyAt, keyLength));
    }
    return erasure;
  }

  private boolean keyFits(MemorySegment in, long at, int received) {
    if (received < Message.RESOLVE_KEY) {
      return false;
    }
    int keyLength = Message.getInt(in, at + Message.RESOLVE_KEY_LENGTH);
    return keyLength > 0
        && keyLength <= engine.keyBytesMax()
        && received == Message.RESOLVE_KEY + keyLength;
  }
}
