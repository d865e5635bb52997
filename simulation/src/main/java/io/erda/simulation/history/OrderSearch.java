package io.erda.simulation.history;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The search over one key's operations.
 *
 * <p>A sweep over invocations and returns in time, which keeps every state the register may be in
 * (Wing and Gong's search, breadth first, in the just-in-time form of Lowe): before an operation
 * returns it must have taken effect in every state that is kept, after as few other open operations
 * as possible. When no state is left, no order explains the results. These rules keep the set
 * small, without losing an explanation:
 *
 * <ul>
 *   <li>An operation that changes nothing (a get, a delete of an absent key) takes effect as soon
 *       as the value fits: doing so later gains nothing.
 *   <li>A value that a later get is going to see is not overwritten: values are unique, so it would
 *       not come back.
 *   <li>A put of unknown outcome that some get saw took effect before the first such get returned:
 *       it is treated as a put that returned then.
 *   <li>Other operations of unknown outcome are optional. A put helps only right before a delete
 *       that found something, a delete only right before a get or delete that found nothing; all of
 *       a kind are equivalent, so they are counted, in order of invocation.
 *   <li>Open puts that no get saw differ only in their ends, and so do open deletes that found
 *       something: the one that ends first takes effect first. If another one did, the two could be
 *       exchanged, because both are open in between.
 * </ul>
 *
 * <p>Operations with a condition: one that was done is a get of the expected value and a put or
 * delete in one step; one that was not done is a get of any other value. Two things are not
 * checked, so that a little more is accepted than should be: the condition of an operation of
 * unknown outcome whose value was not seen, and whether the value of a condition that failed is
 * that of such a put.
 *
 * <p>Most histories have a simple explanation: a first pass keeps fewer states than necessary (only
 * a few of those that differ only in the optional operations used). Only when it finds none does
 * the full search decide.
 *
 * <p>Parts of a history are searched, too, to shorten reports: up to an end, at which open
 * operations count as unknown; and from a start, at which the register may hold anything and open
 * operations may have taken effect or not. Both only accept more.
 */
final class OrderSearch {
  enum Answer {
    EXPLAINED,
    UNEXPLAINED,
    UNDECIDED
  }

  private static final int ABSENT = -1;

  /** Stands for a value that no get sees. */
  private static final int UNREAD = -2;

  private static final int STATES_MAX = 1 << 20;
  private static final int CROSSING_MAX = 10;
  private static final byte SKIP = 0;
  private static final byte GET = 1;
  private static final byte PUT = 2;
  private static final byte DELETE = 3;

  /** A put or delete whose condition held. */
  private static final byte SWAP = 4;

  /** A put or delete whose condition did not hold. */
  private static final byte MISS = 5;

  private final History history;

  /** The key's operations by invocation. All arrays below are indexed like this one. */
  private final int[] operations;

  private final int count;
  private final Map<Long, Integer> putOf = new HashMap<>();

  private final byte[] kinds;

  /** The value that an operation sees, must see or must not see: the index of a put, or ABSENT. */
  private final int[] wants;

  private final long[] ends;

  /** By put: number of operations that see its value and have not begun. */
  private final int[] laterGets;

  /** By put: number of operations that must not see its value and have not begun. */
  private final int[] laterMisses;

  /** Whether an operation is counted in {@link #laterGets}, or in {@link #laterMisses}. */
  private final boolean[] counted;

  /** Whether an operation saw the value of a put. */
  private final boolean[] seen;

  /** Whether an operation must not see the value of a put. */
  private final boolean[] avoided;

  private long[] optionalPuts;
  private long[] optionalDeletes;
  private int optionalPutCount;
  private int optionalDeleteCount;

  private final int[] slotOf;
  private final int[] opOf = new int[64];
  private long open;
  private long readers;

  /** Bit set of the open operations that compare with a value, for equality or inequality. */
  private long comparing;

  private long findingNothing;
  private long findingSomething;
  private int putsAvailable;
  private int deletesAvailable;
  private ConfigurationSet states = new ConfigurationSet();
  private ConfigurationSet next = new ConfigurationSet();
  private final ConfigurationSet visited = new ConfigurationSet();
  private String trouble;

  /**
   * @throws IllegalArgumentException when two puts have one value
   */
  OrderSearch(History history, int[] operations) {
    this.history = history;
    this.count = operations.length;
    this.operations = sorted(operations, history);
    this.kinds = new byte[count];
    this.wants = new int[count];
    this.ends = new long[count];
    this.laterGets = new int[count];
    this.laterMisses = new int[count];
    this.counted = new boolean[count];
    this.avoided = new boolean[count];
    this.seen = new boolean[count];
    this.slotOf = new int[count];
    this.optionalPuts = new long[8];
    this.optionalDeletes = new long[8];
    for (int i = 0; i < count; i++) {
      if (operation(i).puts() && !missed(i) && putOf.put(value(i), i) != null) {
        throw new IllegalArgumentException(
            "two puts of the value " + value(i) + " for the key " + history.key(operations[0]));
      }
    }
  }

  private static int[] sorted(int[] operations, History history) {
    long[] times = new long[operations.length];
    for (int i = 0; i < times.length; i++) {
      times[i] = history.invoked(operations[i]);
    }
    int[] order = Order.by(times, times.length);
    for (int i = 0; i < order.length; i++) {
      order[i] = operations[order[i]];
    }
    return order;
  }

  int count() {
    return count;
  }

  int id(int i) {
    return operations[i];
  }

  OperationKind operation(int i) {
    return history.operation(operations[i]);
  }

  Ending outcome(int i) {
    return history.outcome(operations[i]);
  }

  long value(int i) {
    return history.value(operations[i]);
  }

  long expected(int i) {
    return history.expected(operations[i]);
  }

  /** Whether an operation's condition did not hold. */
  boolean missed(int i) {
    return history.missed(operations[i]);
  }

  long invoked(int i) {
    return history.invoked(operations[i]);
  }

  long returned(int i) {
    return history.returned(operations[i]);
  }

  /** The put of a value, or null. */
  Integer putOf(long value) {
    return putOf.get(value);
  }

  /** Returns the reason for the answer UNDECIDED. */
  String trouble() {
    return trouble;
  }

  Answer search() {
    return search(Long.MIN_VALUE, History.NEVER, new BitSet());
  }

  /**
   * Searches a part of the history.
   *
   * @param from the invocation of one of the operations, at which the register may have any value
   * @param to operations that return later count as open
   * @param without operations to leave out; only gets may be
   */
  Answer search(long from, long to, BitSet without) {
    if (sweep(true, from, to, without) == Answer.EXPLAINED) {
      return Answer.EXPLAINED;
    }
    return sweep(false, from, to, without);
  }

  private Answer sweep(boolean quickly, long from, long to, BitSet without) {
    states.thrifty = quickly;
    next.thrifty = quickly;
    visited.thrifty = quickly;
    if (!prepare(from, to, without)) {
      return Answer.UNEXPLAINED;
    }
    int[] byEnd = Order.by(ends, count);
    states.clear();
    boolean started = from == Long.MIN_VALUE;
    if (started) {
      states.add(0, ABSENT, 0, 0);
    }
    int begun = 0;
    for (int e = 0; e < count; e++) {
      int ending = byEnd[e];
      if (kinds[ending] == SKIP || ends[ending] == History.NEVER) {
        continue;
      }
      for (; begun < count && invoked(begun) <= ends[ending]; begun++) {
        if (!started && invoked(begun) >= from) {
          started = start(from);
          if (!started) {
            return Answer.UNDECIDED;
          }
        }
        if (!begin(begun)) {
          return Answer.UNDECIDED;
        }
      }
      available(ends[ending]);
      if (started && !settle(slotOf[ending])) {
        return Answer.UNDECIDED;
      }
      close(ending);
      if (started && states.size == 0) {
        return Answer.UNEXPLAINED;
      }
    }
    return Answer.EXPLAINED;
  }

  // The kind of each operation.

  /** Prepares the operations. Returns false when a result is impossible. */
  private boolean prepare(long from, long to, BitSet without) {
    Arrays.fill(laterGets, 0);
    Arrays.fill(laterMisses, 0);
    Arrays.fill(counted, false);
    Arrays.fill(seen, false);
    Arrays.fill(avoided, false);
    optionalPutCount = 0;
    optionalDeleteCount = 0;
    putsAvailable = 0;
    deletesAvailable = 0;
    open = 0;
    readers = 0;
    comparing = 0;
    findingNothing = 0;
    findingSomething = 0;
    for (int i = 0; i < count; i++) {
      boolean known = outcome(i) == Ending.OK && returned(i) <= to;
      boolean out = outcome(i) == Ending.FAILED || invoked(i) > to || without.get(i);
      boolean changes = operation(i) != OperationKind.GET && !missed(i);
      kinds[i] = out || (!known && !changes) ? SKIP : kind(i);
      ends[i] = known ? returned(i) : History.NEVER;
      wants[i] = ABSENT;
    }
    for (int i = 0; i < count; i++) {
      boolean sees = kinds[i] == GET || kinds[i] == SWAP && ends[i] != History.NEVER;
      if (sees && ends[i] >= from && !see(i, to)) {
        return false;
      }
    }
    for (int i = 0; i < count; i++) {
      if (kinds[i] == MISS) {
        avoid(i);
      } else if (kinds[i] != SKIP && ends[i] == History.NEVER) {
        option(i);
      }
    }
    return true;
  }

  private byte kind(int i) {
    if (missed(i)) {
      return MISS;
    }
    return switch (operation(i)) {
      case GET -> GET;
      case PUT -> PUT;
      case DELETE -> DELETE;
      case PUT_IF, DELETE_IF -> SWAP;
    };
  }

  /**
   * Notes that an operation saw the value of a put, which therefore took effect: before the reader
   * returned, and before its own end. (The end of unknown operations is ignored, which only accepts
   * more.) A conditional operation that took effect has seen a value itself.
   */
  private boolean see(int reader, long to) {
    for (int at = reader; ; at = wants[at]) {
      long value = kinds[at] == GET ? value(at) : expected(at);
      if (value == History.ABSENT) {
        return true;
      }
      Integer put = putOf.get(value);
      if (put == null || outcome(put) == Ending.FAILED || invoked(put) > ends[at]) {
        return false;
      }
      if (!counted[at]) {
        counted[at] = true;
        wants[at] = put;
        laterGets[put]++;
      }
      seen[put] = true;
      long end = Math.min(ends[put], ends[at]);
      if (returned(put) <= to) {
        end = Math.min(end, returned(put));
      }
      boolean sooner = end < ends[put];
      ends[put] = end;
      // A put of unknown outcome has been counted as soon as its end was known.
      if (kinds[put] != SWAP || counted[put] && !sooner) {
        return true;
      }
    }
  }

  /** Distinguishes a value that must not be seen from other values that no operation sees. */
  private void avoid(int i) {
    if (expected(i) == History.ABSENT) {
      return;
    }
    Integer put = putOf.get(expected(i));
    if (put == null || kinds[put] == SKIP || !seen[put] && ends[put] == History.NEVER) {
      // The value was never seen, and need not have been.
      kinds[i] = SKIP;
      return;
    }
    counted[i] = true;
    wants[i] = put;
    avoided[put] = true;
    laterMisses[put]++;
  }

  private void option(int i) {
    if (operation(i).puts()) {
      if (optionalPutCount == optionalPuts.length) {
        optionalPuts = Arrays.copyOf(optionalPuts, 2 * optionalPutCount);
      }
      optionalPuts[optionalPutCount++] = invoked(i);
    } else {
      if (optionalDeleteCount == optionalDeletes.length) {
        optionalDeletes = Arrays.copyOf(optionalDeletes, 2 * optionalDeleteCount);
      }
      optionalDeletes[optionalDeleteCount++] = invoked(i);
    }
    kinds[i] = SKIP;
  }

  private void available(long time) {
    while (putsAvailable < optionalPutCount && optionalPuts[putsAvailable] <= time) {
      putsAvailable++;
    }
    while (deletesAvailable < optionalDeleteCount && optionalDeletes[deletesAvailable] <= time) {
      deletesAvailable++;
    }
  }

  // The sweep.

  private boolean begin(int i) {
    if (kinds[i] == SKIP) {
      return true;
    }
    if (open == -1L) {
      trouble = "more than 64 operations open at once";
      return false;
    }
    int slot = Long.numberOfTrailingZeros(~open);
    long bit = 1L << slot;
    slotOf[i] = slot;
    opOf[slot] = i;
    open |= bit;
    switch (kinds[i]) {
      case GET -> {
        readers |= bit;
        findingNothing |= wants[i] == ABSENT ? bit : 0;
      }
      case DELETE -> {
        readers |= value(i) == 0 ? bit : 0;
        findingNothing |= value(i) == 0 ? bit : 0;
        findingSomething |= value(i) == 0 ? 0 : bit;
      }
      case SWAP -> {
        comparing |= bit;
        findingNothing |= wants[i] == ABSENT ? bit : 0;
      }
      case MISS -> {
        readers |= bit;
        comparing |= bit;
      }
      default -> {
        // A put without a condition reads nothing.
      }
    }
    if (counted[i]) {
      (kinds[i] == MISS ? laterMisses : laterGets)[wants[i]]--;
    }
    return true;
  }

  private void close(int i) {
    long bit = 1L << slotOf[i];
    open &= ~bit;
    readers &= ~bit;
    comparing &= ~bit;
    findingNothing &= ~bit;
    findingSomething &= ~bit;
  }

  /**
   * Sets the states of the start: the register holds anything, and each of the open operations may
   * have taken effect.
   */
  private boolean start(long from) {
    long changing = open & ~readers;
    if (Long.bitCount(changing) > CROSSING_MAX) {
      trouble = "more than " + CROSSING_MAX + " operations cross the start";
      return false;
    }
    for (long some = changing; ; some = (some - 1) & changing) {
      states.add(some | readers, ABSENT, 0, 0);
      states.add(some | readers, UNREAD, 0, 0);
      for (int i = 0; i < count && invoked(i) < from; i++) {
        if (laterGets[i] > 0 || laterMisses[i] > 0 || isCompared(i, some)) {
          states.add(some | readers, i, 0, 0);
        }
      }
      if (some == 0) {
        return true;
      }
    }
  }

  /**
   * Makes the operation in a slot take effect in every state. Returns false when there are too
   * many.
   */
  private boolean settle(int slot) {
    visited.clear();
    next.clear();
    for (int i = 0; i < states.size; i++) {
      offer(slot, states.taken[i], states.values[i], states.deletes[i], states.puts[i]);
    }
    for (int i = 0; i < visited.size; i++) {
      expand(slot, visited.taken[i], visited.values[i], visited.deletes[i], visited.puts[i]);
      if (visited.size + next.size > STATES_MAX) {
        trouble = "more than " + STATES_MAX + " states at once";
        return false;
      }
    }
    ConfigurationSet spare = states;
    states = next;
    next = spare;
    return true;
  }

  private void offer(int slot, long taken, int value, int deletes, int puts) {
    long now = taken;
    for (long rest = readers & ~taken; rest != 0; rest &= rest - 1) {
      int reader = opOf[Long.numberOfTrailingZeros(rest)];
      if ((wants[reader] == value) == (kinds[reader] != MISS)) {
        now |= Long.lowestOneBit(rest);
      }
    }
    // All open gets of this value have taken effect by now: if no later operation sees it or
    // compares with it, it is equivalent to any other unseen value.
    boolean matters =
        value < 0 || laterGets[value] > 0 || laterMisses[value] > 0 || isCompared(value, now);
    int kept = matters ? value : UNREAD;
    if ((now >>> slot & 1) != 0) {
      next.add(now & ~(1L << slot), kept, deletes, puts);
    } else {
      visited.add(now, kept, deletes, puts);
    }
  }

  /** Whether an open operation that has not taken effect compares with a value. */
  private boolean isCompared(int value, long taken) {
    for (long rest = comparing & ~taken; rest != 0; rest &= rest - 1) {
      if (wants[opOf[Long.numberOfTrailingZeros(rest)]] == value) {
        return true;
      }
    }
    return false;
  }

  /** Whether an open operation that has not taken effect waits for another value. */
  private boolean isAvoided(int value, long taken) {
    for (long rest = comparing & readers & ~taken; rest != 0; rest &= rest - 1) {
      if (wants[opOf[Long.numberOfTrailingZeros(rest)]] == value) {
        return true;
      }
    }
    return false;
  }

  private void expand(int slot, long taken, int value, int deletes, int usedPuts) {
    if (value >= 0 && laterGets[value] > 0) {
      return;
    }
    int unseenPut = -1;
    int delete = -1;
    for (long rest = open & ~readers & ~taken; rest != 0; rest &= rest - 1) {
      int other = Long.numberOfTrailingZeros(rest);
      if ((comparing >>> other & 1) != 0) {
        if (wants[opOf[other]] == value) {
          boolean puts = operation(opOf[other]).puts();
          offer(slot, taken | 1L << other, puts ? opOf[other] : ABSENT, deletes, usedPuts);
        }
      } else if ((findingSomething >>> other & 1) != 0) {
        delete = endsFirst(delete, other);
      } else if (seen[opOf[other]] || avoided[opOf[other]]) {
        offer(slot, taken | 1L << other, opOf[other], deletes, usedPuts);
      } else {
        unseenPut = endsFirst(unseenPut, other);
      }
    }
    if (unseenPut >= 0) {
      offer(slot, taken | 1L << unseenPut, opOf[unseenPut], deletes, usedPuts);
    }
    if (delete >= 0 && value != ABSENT) {
      offer(slot, taken | 1L << delete, ABSENT, deletes, usedPuts);
    }
    boolean avoidedNow = isAvoided(value, taken);
    if (value != ABSENT
        && deletes < deletesAvailable
        && ((findingNothing & ~taken) != 0 || avoidedNow)) {
      offer(slot, taken, ABSENT, deletes + 1, usedPuts);
    }
    if (usedPuts < putsAvailable
        && (value == ABSENT && (findingSomething & ~taken) != 0 || avoidedNow)) {
      offer(slot, taken, UNREAD, deletes, usedPuts + 1);
    }
  }

  /** Returns the slot whose operation ends first; the first slot may be -1, none. */
  private int endsFirst(int slot, int other) {
    return slot < 0 || ends[opOf[other]] < ends[opOf[slot]] ? other : slot;
  }
}
