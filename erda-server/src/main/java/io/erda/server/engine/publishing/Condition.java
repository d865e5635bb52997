package io.erda.server.engine.publishing;

import io.erda.hashtable.VersionWord;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.tables.StoredObjects;
import java.lang.foreign.MemorySegment;

/**
 * What a key must have for a put or delete of it to be done: anything, no value, or the value of a
 * length and a hash. Otherwise it is a conflict. Used again for the next request; allocates
 * nothing.
 */
public final class Condition {
  private int flag;
  private int length;
  private long low;
  private long high;

  /** Whether flags of a request are some that a client may send. */
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

  /** Whether a request with these flags names the value that is expected. */
  public static boolean namesValue(int flags) {
    return (flags & Message.FLAG_IF_EQUAL) != 0;
  }

  /**
   * Takes what a request says.
   *
   * @param flags of the request, which are known
   * @param lengthAt where it names the value that is expected, if it does
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

  /** Whether only a key with a value meets it. */
  public boolean wantsValue() {
    return flag == Message.FLAG_IF_EQUAL;
  }

  /**
   * Whether it holds where {@code offset} is the newest committed version, or {@link
   * VersionWord#NONE}: OK, CONFLICT, or DAMAGED where nobody can tell.
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
