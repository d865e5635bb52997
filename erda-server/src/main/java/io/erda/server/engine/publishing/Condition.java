package io.erda.server.engine.publishing;

import io.erda.hashtable.VersionWord;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.tables.StoredObjects;
import java.lang.foreign.MemorySegment;

/**
 * The condition of a put or delete: that the key has no value, or that its value has a certain
 * length and hash; a request may also have none. A request whose condition does not hold ends as a
 * conflict. Reused for the next request; allocates nothing.
 */
public final class Condition {
  private int flag;
  private int length;
  private long low;
  private long high;

  /** Whether a client may send these flags. */
  public static boolean isKnown(int flags) {
    return switch (flags) {
      case 0,
          Message.FLAG_DELETE,
          Message.FLAG_IF_ABSENT,
          Message.FLAG_IF_EQUAL,
          Message.FLAG_IF_EQUAL | Message.FLAG_DELETE ->
          true;
      default -> false;
    };
  }

  /** Whether a request with these flags contains the expected value's length and hash. */
  public static boolean namesValue(int flags) {
    return (flags & Message.FLAG_IF_EQUAL) != 0;
  }

  /**
   * Takes the condition of a request.
   *
   * @param flags the flags of the request, all known
   * @param lengthAt where it names the expected value, if it does
   */
  public void take(int flags, MemorySegment in, long lengthAt) {
    flag = flags & ~Message.FLAG_DELETE;
    if (namesValue(flags)) {
      long hash = lengthAt + Message.EXPECTED_HASH;
      length = Message.getInt(in, lengthAt);
      low = Message.getLong(in, hash);
      high = Message.getLong(in, hash + Long.BYTES);
    }
  }

  /** Whether only a key that has a value can meet the condition. */
  public boolean wantsValue() {
    return flag == Message.FLAG_IF_EQUAL;
  }

  /**
   * Tests the condition for {@code offset}, the newest committed version, or {@link
   * VersionWord#NONE}: OK, CONFLICT, or DAMAGED when that object can't be read.
   */
  public int test(StoredObjects objects, int head, int offset) {
    if (flag == 0) {
      return Result.OK;
    }
    if (offset != VersionWord.NONE && !objects.valid(head, offset)) {
      return Result.DAMAGED;
    }
    boolean exists = objects.isValue(head, offset);
    boolean holds =
        wantsValue() ? exists && objects.isEqual(head, offset, length, low, high) : !exists;
    return holds ? Result.OK : Result.CONFLICT;
  }
}
