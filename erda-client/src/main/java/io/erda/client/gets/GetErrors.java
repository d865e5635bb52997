package io.erda.client.gets;

import io.erda.client.operations.Operation;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Result;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;

/** The exceptions of a get that could not find out the value of its key. */
public final class GetErrors {
  private GetErrors() {}

  /** The structure counter stays odd, because the server died while it moved entries. */
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

  /**
   * Returns the exception for a READ that failed with a status that another READ would have too;
   * null when another READ may succeed.
   */
  static ErdaException lasting(Get get, QueuePair queuePair, int status) {
    return switch (status) {
      case Status.DENIED, Status.UNTRUSTED ->
          new ErdaException.Unusable(
              get.describe()
                  + ": a file of the store can't be read from here: "
                  + status(queuePair, status));
      case Status.MEMORY_LOST ->
          new ErdaException.Damaged(get.describe() + ": " + status(queuePair, status));
      case Status.UNREADABLE ->
          new ErdaException.Unavailable(get.describe() + ": " + status(queuePair, status));
      default -> null;
    };
  }

  /**
   * The status of a failed READ or WRITE in words: which memory was missing, or which file could
   * not be opened, and why, where the device knows that. Over a network it does not.
   */
  public static String status(QueuePair queuePair, int status) {
    String lost =
        switch (status) {
          case Status.MEMORY_LOST, Status.UNREADABLE, Status.NO_SPACE -> queuePair.lostRegion();
          default -> "";
        };
    return lost.isEmpty() ? Status.name(status) + Operation.unreached(queuePair) : lost;
  }
}
