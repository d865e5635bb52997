package io.erda.server.engine.publishing;

import io.erda.logstore.Extent;
import io.erda.logstore.Region;
import io.erda.protocol.Result;
import io.erda.server.engine.tables.Tables;

/**
 * One put or delete that waits for publication, and then its outcome. Reused: no allocation per
 * request.
 */
public final class PublishRequest {
  /** The progress of a request. Each stage depends on the previous one. */
  enum Stage {
    /** The object has not been checked, or the request is refused: see its result. */
    NEW,
    /** The object is whole and durable, and no word names it. */
    DURABLE,
    /** The entry's word names the object; the word is pending if puts are pending first. */
    NAMED,
    /**
     * The word that names the object is durable, and will not be taken back: the put may be
     * acknowledged. If puts are pending first, the durable word is the pending one. The store that
     * commits it becomes durable with a later drain, and recovery repeats that store if it is lost.
     */
    COMMITTED
  }

  /**
   * The client that sent the request; null for a client that publishes in its own thread, and so
   * can't withdraw meanwhile.
   */
  public Requester requester;

  public Extent extent;
  public long place;
  public int offset;
  public int bytes;
  public boolean delete;

  /** The condition that the request's key must meet. */
  public final Condition condition = new Condition();

  Stage stage = Stage.NEW;
  public int result;
  public boolean existed;

  /** Whether the caller has checked the object: the key word and key length are set. */
  public boolean checked;

  public long keyWord;
  public int keyLength;
  long entry;

  /** The request's entry, which has the key word and no version yet, or {@link Tables#NONE}. */
  long staged = Tables.NONE;

  /** The number of the table that holds the staged entry. */
  int stagedIn;

  /**
   * Whether the request is refused, may be acknowledged, or is the delete of a key without a value.
   */
  boolean isDecided() {
    return result != Result.OK || stage == Stage.COMMITTED || (delete && !existed);
  }

  public Region region() {
    return extent.region();
  }
}
