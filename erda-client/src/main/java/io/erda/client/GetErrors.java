package io.erda.client;

import io.erda.protocol.ErdaException;
import io.erda.protocol.Result;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;

/** What a get says when it can't tell what its key has. */
final class GetErrors {
  private GetErrors() {}

  /** Why a connection is good for nothing any more. */
  static String startedAnew(long now, long was) {
    return "the server was started anew (incarnation "
        + Long.toHexString(now)
        + ", was "
        + Long.toHexString(was)
        + ")";
  }

  static ErdaException staleMap(String get, int times, long rootEpoch, long mapEpoch) {
    return new ErdaException.Unavailable(
        get
            + ": the region map was stale "
            + times
            + " times; root says epoch "
            + rootEpoch
            + ", map says "
            + mapEpoch);
  }

  /** The structure counter stays odd: nobody finishes what the server had begun. */
  static ErdaException diedMoving(String get, long counter) {
    return new ErdaException.Unavailable(
        get
            + " was not decided, and the server died while it moved entries or judged words"
            + " (structure counter "
            + counter
            + "): what the key has is known after the next start");
  }

  static ErdaException invalidHereAlone(String get, ObjectPlace place) {
    return new ErdaException.Unavailable(
        get
            + " fails its check here (head "
            + place.head
            + ", offset "
            + place.offset
            + ", generation "
            + place.generation
            + "), and the server finds it sound");
  }

  static ErdaException damaged(String get, ObjectPlace place) {
    return new ErdaException.Damaged(
        get
            + ": its newest object is damaged (head "
            + place.head
            + ", offset "
            + place.offset
            + ")");
  }

  static ErdaException refused(String get, int result) {
    return new ErdaException.Unavailable(
        get + " fails its check, and the server says: " + Result.name(result));
  }

  /** What a READ ended with that another one would end with, too; null when it may not. */
  static ErdaException lasting(Get get, QueuePair queuePair, int status) {
    return switch (status) {
      case Status.DENIED, Status.UNTRUSTED ->
          new ErdaException.Unusable(
              get.describe()
                  + ": a file of the store can't be read from here: "
                  + Status.name(status));
      case Status.MEMORY_LOST ->
          new ErdaException.Damaged(get.describe() + ": " + queuePair.lostRegion());
      default -> null;
    };
  }

  static ErdaException readsFailed(String get, int times, int status) {
    return new ErdaException.Unavailable(
        get + ": READs failed " + times + " times, the last one: " + Status.name(status));
  }
}
