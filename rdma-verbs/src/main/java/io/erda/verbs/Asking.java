package io.erda.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * How this end asks a peer for a connection: it finds a way to the peer's address, asks, and asks
 * once more when nobody answers. One thread.
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
   * Begins with an ID that nothing was done with.
   *
   * @throws IOException when the connection manager refuses at once
   */
  void begin(RdmaCmId with, InetSocketAddress to) throws IOException {
    id = with;
    destination = to;
    way.look(to);
  }

  /** Begins anew with another ID; who gave it ends the one before. */
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

  /** Whether a failure that the connection manager reports is none yet, as there is time. */
  boolean goesOn(int event, int status) throws IOException {
    return way.goesOn(event, status);
  }

  boolean isOver() {
    return tries.isOver();
  }

  /** Whether nobody has the address, as far as was found when time was over. */
  boolean isAddressMissing() {
    return way.isMissing();
  }

  /** Whether it is time to begin again. */
  boolean isUnanswered() {
    return waiting && tries.isUnanswered();
  }
}
