package io.erda.simulation;

import io.erda.rdma.Device;

/**
 * The parts of one end of a connection that the other end's work reaches: its memory, its receives
 * and its state.
 */
final class ConnectionEnd {
  private enum Phase {
    CONNECTING,
    CONNECTED,
    /** DISCONNECT (or a failed CONNECT) was queued. */
    ENDED,
    CLOSED
  }

  final Device device;
  final Traffic traffic;
  final SimulatedCompletions completions;
  final SimulatedReceives receives;
  final ClaimCounts claims = new ClaimCounts();
  private Phase phase = Phase.CONNECTING;
  private boolean crashed;

  ConnectionEnd(
      Device device, Traffic traffic, SimulatedCompletions completions, int receiveDepth) {
    this.device = device;
    this.traffic = traffic;
    this.completions = completions;
    this.receives = new SimulatedReceives(receiveDepth, traffic, completions);
  }

  private void become(Phase next) {
    assert next.ordinal() > phase.ordinal() : phase + " does not become " + next;
    phase = next;
  }

  void connect() {
    assert isConnecting() : phase;
    become(Phase.CONNECTED);
  }

  void end() {
    become(Phase.ENDED);
  }

  /** Closes the end: nothing is reported here any more. */
  void close() {
    become(Phase.CLOSED);
    completions.close();
    receives.clear();
  }

  /** Notes that the process of this end has died. */
  void crash() {
    crashed = true;
  }

  boolean isConnecting() {
    return phase == Phase.CONNECTING;
  }

  boolean isConnected() {
    return phase == Phase.CONNECTED;
  }

  boolean hasEnded() {
    return phase == Phase.ENDED;
  }

  boolean isClosed() {
    return phase == Phase.CLOSED;
  }

  /** Whether the other end can see that this one has left. */
  boolean hasLeft() {
    return claims.isWithdrawn() || isClosed() && !crashed;
  }
}
