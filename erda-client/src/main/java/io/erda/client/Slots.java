package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * All operations of a client, by slot: gets, then puts, then the query. Passes on to each of them
 * what completes, and what becomes of its connection.
 */
final class Slots implements Connections.Listener {
  private final Connections connections;
  final Operation[] operations;
  private final Get[] gets;
  private final PutOrder puts;
  private final StatsQuery query;

  Slots(ClientContext context, Connections connections, Outcomes outcomes, int depth) {
    this.connections = connections;
    operations = new Operation[count(depth)];
    gets = new Get[depth];
    puts = new PutOrder(outcomes, depth);
    for (int i = 0; i < depth; i++) {
      gets[i] = new Get(context, connections, outcomes, i);
      Put put = new LeasedPut(context, connections, outcomes, puts, depth + i);
      puts.set(i, put);
      operations[i] = gets[i];
      operations[depth + i] = put;
    }
    query = new StatsQuery(context, connections, outcomes, 2 * depth);
    operations[2 * depth] = query;
  }

  /**
   * How many slots there are.
   *
   * @param depth how many gets, and as many puts, are in flight at most
   */
  static int count(int depth) {
    return 2 * depth + 1;
  }

  /** A free slot, or null. */
  Get freeGet() {
    for (Get get : gets) {
      if (get.step == Operation.IDLE) {
        get.prepare();
        return get;
      }
    }
    return null;
  }

  /** A free slot, or null. */
  Put freePut() {
    return puts.free();
  }

  StatsQuery query() {
    return query;
  }

  // Completions.

  @Override
  public void onRead(int slot, long serial) {
    if (slot < gets.length) {
      gets[slot].onRead(serial);
    } else {
      puts.get(slot - gets.length).onRead(serial);
    }
  }

  @Override
  public void onReadFailed(int slot, long serial, int status) {
    if (slot < gets.length) {
      gets[slot].onReadFailed(serial, status);
    } else {
      puts.get(slot - gets.length).onReadFailed(serial, status);
    }
  }

  @Override
  public void onWriteFailed(int slot, long serial, int status) {
    puts.get(slot - gets.length).onWriteFailed(serial, status);
  }

  @Override
  public void onResponse(
      Session of, int slot, int type, int result, MemorySegment memory, long base, int length) {
    Operation operation = operations[slot];
    // One whose time is over ended without its answer, which may come all the same.
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
      if (each.step == Operation.WAIT_MAP && each.session == of) {
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
      if (each.step == Operation.WAIT_SESSION && !hasSession(each)) {
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

  private boolean hasSession(Operation operation) {
    return connections.readSession(operation.needsServer) != null;
  }

  // The end.

  /** The client is being closed. */
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
  }
}
