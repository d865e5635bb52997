package io.erda.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Asks a peer for a connection: finds a way to its address, asks, and asks once more when there is
 * no answer. One thread.
 */
final class Asking {
  private final Tries tries;
  private final WayFinder way;
  private RdmaCmId id;
  private InetSocketAddress destination;

  /** The peer's connection manager was asked, and has not answered yet. */
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

  /** A device has a way to the address. */
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
   * Whether to go on after a failure that the connection manager reports, because there is time.
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
