package io.erda.client.puts;

import io.erda.client.connections.Session;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.Step;

/**
 * The order of the puts and deletes of one client. Operations on one key are done in the order of
 * submission: a later one waits for the earlier one. Operations with places in one lease are posted
 * in the order of the places, because the server accepts no place below one that was published.
 */
public final class PutOrder {
  private final Outcomes outcomes;
  private Put[] puts = new Put[0];
  private long last;
  private boolean closed;

  public PutOrder(Outcomes outcomes) {
    this.outcomes = outcomes;
  }

  /** Sets all puts of the client, including those that were set before. */
  public void set(Put[] all) {
    puts = all;
  }

  public Put get(int index) {
    return puts[index];
  }

  /** A slot that is free, or null. */
  public Put free() {
    for (Put put : puts) {
      if (put.step == Step.IDLE) {
        return put;
      }
    }
    return null;
  }

  /** Returns the next number, for a put that is submitted or takes its place. */
  long next() {
    return ++last;
  }

  /** Whether only one operation of the client is under way. */
  boolean isAlone() {
    return outcomes.active() == 1;
  }

  /** Whether a put of the same key was submitted before and is not done. */
  boolean hasEarlier(Put put) {
    if (outcomes.active() > 1) {
      for (Put other : puts) {
        if (other.active() && other.order < put.order && other.keyWord() == put.keyWord()) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether a put that has its place in the log before this one's could not be posted yet. */
  boolean hasUnposted(Put put) {
    if (outcomes.active() > 1) {
      for (Put other : puts) {
        if (put.follows(other)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Called when a put ended. Puts that waited for it go on. */
  void giveTurn() {
    if (outcomes.othersActive() && !closed) {
      for (Put put : puts) {
        if (put.step == Step.WAIT_TURN && !hasEarlier(put)) {
          put.restart();
        }
      }
    }
  }

  /** A session may have got space in the log of a head: puts that wait for it try again. */
  public void onLease(Session of, int head) {
    for (Put put : puts) {
      put.onLease(of, head);
    }
  }

  /**
   * The server has no room for {@code asked} bytes. A put that waits for less space requests it
   * again.
   */
  public void onLeaseRefused(Session of, int head, int asked, int result) {
    for (Put put : puts) {
      put.onLeaseRefused(of, head, asked, result);
    }
  }

  /** Notes that the client is being closed. From then on no put goes on. */
  public void close() {
    closed = true;
  }

  /** REQUIRES: the queue pairs are closed. */
  public void release() {
    for (Put put : puts) {
      put.release();
    }
  }
}
