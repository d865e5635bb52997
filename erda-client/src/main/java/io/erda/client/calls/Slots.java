package io.erda.client.calls;

import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Session;
import io.erda.client.gets.Get;
import io.erda.client.iteration.Scan;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.StatsQuery;
import io.erda.client.operations.Step;
import io.erda.client.puts.Put;
import io.erda.client.puts.PutOrder;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * All operations of a client, by slot: gets, then puts, the query, and the iteration. Passes
 * completions, and the end of a connection, to the operations concerned.
 *
 * <p>There are {@code depth} gets and as many puts at most. They are made on demand: a blocking
 * client that never has several operations at once has one of each.
 */
final class Slots implements Connections.Listener {
  private final ClientContext context;
  private final Connections connections;
  private final Outcomes outcomes;
  private final int depth;

  /** The operations that were made, in the order of their slots. */
  Operation[] operations;

  private Get[] gets = new Get[0];
  private final PutOrder puts;
  private final StatsQuery query;
  private final Scan scan;

  /**
   * @param depth how many gets, and as many puts, there are at most
   * @param made how many of each are made now
   */
  Slots(ClientContext context, Connections connections, Outcomes outcomes, int depth, int made) {
    this.context = context;
    this.connections = connections;
    this.outcomes = outcomes;
    this.depth = depth;
    puts = new PutOrder(outcomes);
    query = new StatsQuery(context, connections, outcomes, 2 * depth);
    scan = new Scan(context, connections, outcomes, 2 * depth + 1);
    make(made);
  }

  /** Makes gets and puts until there are {@code count} of each. */
  void make(int count) {
    int before = gets.length;
    if (count <= before) {
      return;
    }
    Get[] getsMade = Arrays.copyOf(gets, count);
    Put[] putsMade = new Put[count];
    for (int i = 0; i < count; i++) {
      if (i < before) {
        putsMade[i] = puts.get(i);
      } else {
        getsMade[i] = new Get(context, connections, outcomes, i);
        putsMade[i] = new Put(context, connections, outcomes, puts, depth + i);
      }
    }
    Operation[] all = new Operation[count(count)];
    System.arraycopy(getsMade, 0, all, 0, count);
    System.arraycopy(putsMade, 0, all, count, count);
    all[2 * count] = query;
    all[2 * count + 1] = scan;
    // An Error may come before this call or in it, but not behind it: nothing else is called.
    puts.set(putsMade);
    gets = getsMade;
    operations = all;
  }

  private Operation operation(int slot) {
    if (slot < depth) {
      return gets[slot];
    }
    if (slot < 2 * depth) {
      return puts.get(slot - depth);
    }
    return slot == 2 * depth ? query : scan;
  }

  /**
   * How many slots there are.
   *
   * @param depth how many gets, and as many puts, are in flight at most
   */
  static int count(int depth) {
    return requests(depth) + 1;
  }

  /** How many of the slots send requests: all but the last, which is the iteration's. */
  static int requests(int depth) {
    return 2 * depth + 1;
  }

  /** A free slot, or null. */
  Get freeGet() {
    for (Get get : gets) {
      if (get.step == Step.IDLE) {
        get.prepare();
        return get;
      }
    }
    return null;
  }

  /** The get of a slot, free or not. REQUIRES: it was made. */
  Get get(int slot) {
    gets[slot].prepare();
    return gets[slot];
  }

  /** The put of a slot, counted from 0, free or not. REQUIRES: it was made. */
  Put put(int index) {
    return puts.get(index);
  }

  /** A free slot, or null. */
  Put freePut() {
    return puts.free();
  }

  /** Whether no slot is in use. */
  boolean areFree() {
    for (Operation each : operations) {
      if (each.step != Step.IDLE) {
        return false;
      }
    }
    return true;
  }

  StatsQuery query() {
    return query;
  }

  Scan scan() {
    return scan;
  }

  // Completions.

  @Override
  public void onRead(int slot, long serial) {
    if (slot < depth) {
      gets[slot].onRead(serial);
    } else if (slot < 2 * depth) {
      puts.get(slot - depth).onRead(serial);
    } else {
      scan.onRead(serial);
    }
  }

  @Override
  public void onReadFailed(int slot, long serial, int status) {
    if (slot < depth) {
      gets[slot].onReadFailed(serial, status);
    } else if (slot < 2 * depth) {
      puts.get(slot - depth).onReadFailed(serial, status);
    } else {
      scan.onReadFailed(serial, status);
    }
  }

  @Override
  public void onWriteFailed(int slot, long serial, int status) {
    puts.get(slot - depth).onWriteFailed(serial, status);
  }

  @Override
  public void onResponse(
      Session of, int slot, int type, int result, MemorySegment memory, long base, int length) {
    Operation operation = operation(slot);
    // An operation may have ended by its time-out before this answer came; then the answer is
    // ignored.
    if (operation.session == of) {
      operation.onResponse(type, result, memory, base, length);
    }
  }

  @Override
  public void onLease(Session of, int head) {
    puts.onLease(of, head);
  }

  @Override
  public void onLeaseRefused(Session of, int head, int asked, int result) {
    puts.onLeaseRefused(of, head, asked, result);
  }

  @Override
  public void onMap(Session of) {
    for (Operation each : operations) {
      if (each.step == Step.WAIT_MAP && each.session == of) {
        each.restart();
      }
    }
  }

  @Override
  public long newestTaken(Session of) {
    long newest = 0;
    for (Operation each : operations) {
      if (each.session == of && each.published() && !of.neverTaken(each.slot)) {
        newest = Math.max(newest, of.requests.message(each.slot));
      }
    }
    return newest;
  }

  // Connections.

  @Override
  public void onLost(Session lost) {
    for (Operation each : operations) {
      if (each.active()) {
        each.onSessionLost(lost);
      }
    }
  }

  @Override
  public boolean onConnectFailed(ErdaException why) {
    boolean someWait = false;
    for (Operation each : operations) {
      if (each.step == Step.WAIT_SESSION && !each.hasSession()) {
        boolean patient = each.patient || each.attemptsBefore == connections.attempts();
        if (patient && why instanceof ErdaException.Unavailable) {
          someWait = true;
        } else {
          each.fail(why);
        }
      }
    }
    return someWait;
  }

  // The end.

  /** Ends all operations, because the client is being closed. */
  void close(Session ended) {
    puts.close();
    for (Operation each : operations) {
      if (each.active()) {
        each.onClosed(ended);
      }
    }
  }

  /** REQUIRES: the queue pairs are closed. */
  void release() {
    for (Get get : gets) {
      get.release();
    }
    puts.release();
    scan.release();
  }
}
