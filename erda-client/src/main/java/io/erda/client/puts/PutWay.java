package io.erda.client.puts;

import java.lang.foreign.MemorySegment;

/**
 * The way of an object from its place in a lease to being the newest version of its key: one for
 * each put mode of a store. It belongs to one {@link LeasedPut} and is used again for its next
 * operation.
 */
interface PutWay {
  /** The put has its place: begins to post. */
  void begin();

  /** Posts what could not be posted. */
  void resume();

  /** Whether the server was not told of the place yet. */
  boolean isUnposted();

  /** Whether something was posted that may make the put take effect. */
  boolean mayTakeEffect();

  /** Whether something may have been: an exception may have cut the posting itself short. */
  boolean mayHaveBeenSent();

  /** Whether a server that is through with the request has thereby decided the put. */
  boolean isDecidedByItsRequest();

  /** The request was answered with OK. */
  void onOk(MemorySegment message, long base);

  /** The request was answered: its condition did not hold, and nothing was done. */
  void onConflict();

  /** The WRITE was refused, because the key to WRITE with is none any more. */
  void onWriteRefused();

  /** The READ of this put completed, whose number is the put's. */
  void onRead();
}
