package io.erda.simulation;

import io.erda.rdma.Opcode;

/** Decides which parts of the other end the work of one end still reaches. */
final class Reach {
  private final ConnectionEnd near;

  /** The other end; null until both are connected. */
  private ConnectionEnd far;

  private boolean lost;
  private boolean readsOutlive;
  private boolean unfenced;

  Reach(ConnectionEnd near) {
    this.near = near;
  }

  void connect(ConnectionEnd far) {
    assert this.far == null : "an end is connected once";
    this.far = far;
  }

  ConnectionEnd far() {
    return far;
  }

  /** Notes that the wire between the ends is gone: work posted from now on has no effect. */
  void lose() {
    lost = true;
  }

  boolean isLost() {
    return lost;
  }

  /**
   * Notes that the process of the other end has died.
   *
   * @param readsOutlive whether READs go on
   * @param unfenced whether this end's stores still land, until this end notices the death or the
   *     memory is opened again
   */
  void farCrashed(boolean readsOutlive, boolean unfenced) {
    assert readsOutlive || !unfenced : "stores go on only where READs do";
    assert near.isConnected() || !unfenced : "whoever noticed stores nothing";
    this.readsOutlive = readsOutlive;
    this.unfenced = unfenced;
  }

  boolean readsOutlive() {
    return readsOutlive;
  }

  boolean isUnfenced() {
    return unfenced;
  }

  void fence() {
    unfenced = false;
  }

  /** Whether the other end can receive messages. */
  boolean isFarConnected() {
    return far != null && far.isConnected();
  }

  /** Whether both ends and the wire are intact. */
  boolean isWhole() {
    return near.isConnected() && !lost && isFarConnected();
  }

  /** Whether work that comes to the other end now arrives. */
  boolean reaches(PostedWork work) {
    return !lost && isFarConnected() || work.mayArriveYet() || reachesTheDead(work);
  }

  private boolean reachesTheDead(PostedWork work) {
    return switch (work.opcode) {
      case Opcode.READ -> readsOutlive;
      case Opcode.WRITE -> unfenced && near.isConnected();
      default -> false;
    };
  }
}
