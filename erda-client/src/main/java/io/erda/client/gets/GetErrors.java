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
          new ErdaException.Damaged(get.describe() + ": " + lost(queuePair, status));
      case Status.UNREADABLE ->
          new ErdaException.Unavailable(get.describe() + ": " + lost(queuePair, status));
      default -> null;
    };
  }

  /**
   * Which memory was missing for a READ or WRITE, and why; the status in words where the device
   * does not know that, as over a network.
   */
  public static String lost(QueuePair queuePair, int status) {
    String region = queuePair.lostRegion();
    return region.isEmpty() ? Status.name(status) : region;
  }

  /** The status of a READ or WRITE in words, with the file that could not be opened for it. */
  public static String status(QueuePair queuePair, int status) {
    return Status.name(status) + Operation.unreached(queuePair);
  }
}
