package io.erda.server;

import io.erda.client.ErdaClient;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.function.IntConsumer;

/** Stops a client within its commits: tests look at what happens meanwhile. */
final class CommitStops {
  /** The entry was found, and nothing is stored yet. */
  static final int FOUND = 0;

  /** The object is in its place, and nothing says so yet. */
  static final int COPIED = 1;

  /** The record stands, and the client has not compared the number of the turn. */
  static final int STANDS = 2;

  /** The next thing that the client does is the swap. */
  static final int SEEN = 3;

  /** The put has happened. */
  static final int SWAPPED = 4;

  /** The client is about to clear its record. */
  static final int TOLD = 5;

  private CommitStops() {}

  /**
   * Sets what is called at the points of the client's commits, as {@code CommitLine} numbers them.
   * Returns false while the client can't commit by itself: it has no connection, or no line.
   */
  static boolean set(ErdaClient client, IntConsumer stops) {
    try {
      Object connections = get(get(client, "core"), "connections");
      Method current = connections.getClass().getDeclaredMethod("current");
      current.setAccessible(true);
      Object session = current.invoke(connections);
      Object line = session == null ? null : get(session, "line");
      if (line == null || !line.getClass().getSimpleName().equals("CommitLine")) {
        return false;
      }
      Field field = line.getClass().getDeclaredField("stops");
      field.setAccessible(true);
      field.set(line, stops);
      return true;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("the client is made in another way", e);
    }
  }

  private static Object get(Object of, String field) throws ReflectiveOperationException {
    Field found = of.getClass().getDeclaredField(field);
    found.setAccessible(true);
    return found.get(of);
  }
}
