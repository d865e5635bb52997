package io.erda.simulation;

import io.erda.rdma.Device;

/**
 * What one end of a connection has, and the other end's work reaches: its memory, its receives, and
 * whether it is there.
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
  final CompletionQueue completions;
  final ReceiveQueue receives;
  final ClaimCounts claims = new ClaimCounts();
  private Phase phase = Phase.CONNECTING;
  private boolean crashed;

  ConnectionEnd(Device device, Traffic traffic, CompletionQueue completions, int receiveDepth) {
    this.device = device;
    this.traffic = traffic;
    this.completions = completions;
    this.receives = new ReceiveQueue(receiveDepth, traffic, completions);
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

  /** Nothing is reported here any more. */
  void close() {
    become(Phase.CLOSED);
    completions.close();
    receives.clear();
  }

  /** The process that it belongs to has died. */
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

  /** Whether it wants nothing more, as far as the other end can see it. */
  boolean hasLeft() {
    return claims.isWithdrawn() || isClosed() && !crashed;
  }
}
