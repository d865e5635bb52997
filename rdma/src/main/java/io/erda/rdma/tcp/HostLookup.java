package io.erda.rdma.tcp;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/**
 * The lookup of the addresses of one host. A thread of its own runs it; any thread may ask whether
 * it has ended.
 */
final class HostLookup implements Runnable {
  private final HostLookups lookups;
  private final String host;

  /** The actions that run when the lookup has ended. This object guards the list. */
  private List<Runnable> waiting = new ArrayList<>();

  private List<InetAddress> addresses = List.of();
  private String failure = "";

  /** Whether the lookup has ended; written after its result. */
  private volatile boolean over;

  HostLookup(HostLookups lookups, String host) {
    this.lookups = lookups;
    this.host = host;
  }

  /** Looks up the host, and keeps the result or the error. Blocks as long as the resolver does. */
  @Override
  public void run() {
    try {
      lookUp();
    } finally {
      lookups.forget(host, this);
      end();
    }
  }

  private void lookUp() {
    try {
      addresses = List.of(lookups.resolver().addressesOf(host));
    } catch (UnknownHostException e) {
      failure = "no host is known by the name " + host;
    } catch (Throwable e) {
      // This thread has no caller. The error becomes the failure that each waiting client reads.
      failure = "the name " + host + " could not be looked up: " + e;
    }
  }

  /** Tells those who wait that the lookup has ended. */
  private void end() {
    over = true;
    List<Runnable> told;
    synchronized (this) {
      told = waiting;
      waiting = List.of();
    }
    for (Runnable each : told) {
      try {
        each.run();
      } catch (Throwable e) {
        // The others are told all the same. Whoever was not told looks again at its deadline.
      }
    }
  }

  /**
   * Keeps an action, which the lookup's thread runs when the lookup has ended. If the lookup has
   * ended already, nobody runs the action.
   */
  synchronized void whenOver(Runnable action) {
    if (!over) {
      waiting.add(action);
    }
  }

  /** Drops an action that was kept. It may be running now, or run once more. */
  synchronized void forget(Runnable action) {
    if (!over) {
      waiting.remove(action);
    }
  }

  /** Whether the lookup has ended and the result is known. */
  boolean isOver() {
    return over;
  }

  /** Returns the host's addresses, the preferred one first; none when none is known. */
  List<InetAddress> addresses() {
    return addresses;
  }

  /** Returns why no address is known; empty when one is known, or the lookup has not ended. */
  String failure() {
    return failure;
  }
}
