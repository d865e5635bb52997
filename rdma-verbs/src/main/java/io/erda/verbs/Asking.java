package io.erda.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Requests a connection from a peer: finds a route to its address, sends a request, and sends
 * another one when there is no answer. One thread.
 */
final class Asking {
  private final Tries tries;
  private final WayFinder way;
  private RdmaCmId id;
  private InetSocketAddress destination;

  /** Whether the peer's connection manager has got a request that it has not answered yet. */
  private boolean waiting;

  Asking(Tries tries) {
    this.tries = tries;
    this.way = new WayFinder((to, ms) -> id.resolveAddr(null, to, ms), () -> tries.remainingNs());
  }

  /**
   * Begins with a new ID.
   *
   * @throws IOException when the connection manager refuses at once
   */
  void begin(RdmaCmId with, InetSocketAddress to) throws IOException {
    id = with;
    destination = to;
    way.look(to);
  }

  /** Begins anew with another ID; the caller ends the former one. */
  void beginAgain(RdmaCmId with) throws IOException {
    waiting = false;
    begin(with, destination);
  }

  /** Handles the event that a device with a route to the address was found. */
  void foundDevice() throws IOException {
    way.found();
    id.resolveRoute(tries.remainingMs());
  }

  void foundRoute() throws IOException {
    id.connect(Link.parameters());
    tries.begin();
    waiting = true;
  }

  void answered() {
    waiting = false;
  }

  /**
   * Whether to go on after a failure that the connection manager reports, because there is time
   * left.
   */
  boolean goesOn(int event, int status) throws IOException {
    return way.goesOn(event, status);
  }

  boolean isOver() {
    return tries.isOver();
  }

  /** Whether no host was found to have the address. */
  boolean isAddressMissing() {
    return way.isMissing();
  }

  /** Whether it is time to begin again. */
  boolean isUnanswered() {
    return waiting && tries.isUnanswered();
  }
}
