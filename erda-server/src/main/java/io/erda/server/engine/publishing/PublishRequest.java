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
  /** How far it is; each stage relies on the one before. */
  enum Stage {
    /** The object has not been looked at, or the request is refused, as its result says. */
    NEW,
    /** The object is whole and durable; no word names it. */
    DURABLE,
    /** The entry's word names it: pending, where a put is pending first. */
    NAMED,
    /**
     * The word that names the object is durable, and from now on nobody takes it back: the put may
     * be acknowledged. Where a put is pending first, that is the pending word: the committing store
     * becomes durable with a later drain, and recovery repeats it if it is lost.
     */
    COMMITTED
  }

  /** Null when nobody can leave that asked for it. */
  public Requester requester;

  public Extent extent;
  public long place;
  public int offset;
  public int bytes;
  public boolean delete;

  /** The condition that its key must meet for it to be done. */
  public final Condition condition = new Condition();

  Stage stage = Stage.NEW;
  public int result;
  public boolean existed;

  /** Whether whoever asked has looked at the object: its key word and key length are set. */
  public boolean checked;

  public long keyWord;
  public int keyLength;
  long entry;

  /** An entry that has the key word and no version yet, or {@link Tables#NONE}. */
  long staged = Tables.NONE;

  /** The number of the table that it is in. */
  int stagedIn;

  /** Whether it is refused, may be acknowledged, or had nothing to delete. */
  boolean isDecided() {
    return result != Result.OK || stage == Stage.COMMITTED || (delete && !existed);
  }

  public Region region() {
    return extent.region();
  }
}
