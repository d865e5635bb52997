package io.erda.server.engine.service;

import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.util.Arrays;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Counts the answers to requests, by kind of request and result. A request counts when it is
 * answered, not when it comes. Each count costs one addition in an array. One thread.
 */
final class RequestCounts {
  /**
   * Names of the kinds: the types of the protocol, then those that the flags of a PUBLISH
   * distinguish.
   */
  private static final String[] KINDS = kinds();

  private static final int OTHER = 0;
  private static final int DELETE = Message.TYPE_MAX + 1;
  private static final int CONDITIONAL_PUT = Message.TYPE_MAX + 2;
  private static final int CONDITIONAL_DELETE = Message.TYPE_MAX + 3;

  private static final String[] RESULTS = results();

  private final long[] counts = new long[KINDS.length * RESULTS.length];

  private static String[] kinds() {
    String[] kinds = new String[Message.TYPE_MAX + 4];
    Arrays.fill(kinds, "other");
    kinds[Message.LEASE] = "lease";
    kinds[Message.PUBLISH] = "put";
    kinds[Message.END] = "end";
    kinds[Message.MAP] = "map";
    kinds[Message.RESOLVE] = "resolve";
    kinds[Message.STATS] = "stats";
    kinds[Message.ERASE] = "erase";
    kinds[Message.CLEAN] = "clean";
    kinds[Message.LEFT] = "left";
    kinds[Message.ANNOUNCE] = "announce";
    kinds[Message.REPORT] = "report";
    kinds[DELETE] = "delete";
    kinds[CONDITIONAL_PUT] = "conditionalput";
    kinds[CONDITIONAL_DELETE] = "conditionaldelete";
    return kinds;
  }

  private static String[] results() {
    String[] results = new String[Result.BUCKET_FULL + 1];
    Arrays.fill(results, "other");
    results[Result.OK] = "ok";
    results[Result.LOG_FULL] = "logfull";
    results[Result.TABLE_FULL] = "tablefull";
    results[Result.DISK_FULL] = "diskfull";
    results[Result.NO_RESERVATION] = "noreservation";
    results[Result.INVALID_OBJECT] = "invalidobject";
    results[Result.DAMAGED] = "damaged";
    results[Result.TOO_LARGE] = "toolarge";
    results[Result.BAD_REQUEST] = "badrequest";
    results[Result.READ_ONLY] = "readonly";
    results[Result.FAILED] = "failed";
    results[Result.NOT_NOW] = "notnow";
    results[Result.NO_SUCH_HEAD] = "nosuchhead";
    results[Result.NO_CLEANING] = "nocleaning";
    results[Result.CONFLICT] = "conflict";
    results[Result.UNDECIDED] = "undecided";
    results[Result.OVER_QUOTA] = "overquota";
    results[Result.BUCKET_FULL] = "bucketfull";
    return results;
  }

  /**
   * Counts an answer.
   *
   * @param flags the flags of a PUBLISH request; not used for other types
   */
  void add(int type, int flags, int result) {
    add(type, flags, result, 1);
  }

  /** As {@link #add(int, int, int)}, several times. */
  void add(int type, int flags, int result, long times) {
    counts[kind(type, flags) * RESULTS.length + result] += times;
  }

  private static int kind(int type, int flags) {
    if (type == Message.PUBLISH) {
      boolean delete = (flags & Message.FLAG_DELETE) != 0;
      boolean conditional = (flags & (Message.FLAG_IF_ABSENT | Message.FLAG_IF_EQUAL)) != 0;
      return conditional
          ? delete ? CONDITIONAL_DELETE : CONDITIONAL_PUT
          : delete ? DELETE : Message.PUBLISH;
    }
    return type > OTHER && type <= Message.TYPE_MAX ? type : OTHER;
  }

  /** Adds the counts: OK for every kind, and other results if they occurred. */
  void addTo(Map<String, LongSupplier> all) {
    for (int kind = 0; kind < KINDS.length; kind++) {
      for (int result = 0; result < RESULTS.length; result++) {
        long count = counts[kind * RESULTS.length + result];
        if (count > 0 || (result == Result.OK && kind != OTHER)) {
          all.put("requests.answered." + KINDS[kind] + "." + RESULTS[result], () -> count);
        }
      }
    }
  }
}
