package io.erda.simulation;

import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/** The requests that have arrived at one address. */
final class SimulatedListener implements Listener {
  private final SimulatedDevice device;
  private final String address;
  private final ArrayDeque<SimulatedQueuePair> waiting = new ArrayDeque<>();
  private boolean closed;

  SimulatedListener(SimulatedDevice device, String address) {
    this.device = device;
    this.address = address;
  }

  void arrive(SimulatedQueuePair requester) {
    waiting.add(requester);
    device.activity();
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public ConnectionRequest poll() {
    SimulatedQueuePair requester = waiting.poll();
    while (requester != null && !requester.isConnecting()) {
      requester = waiting.poll();
    }
    return requester == null ? null : new Request(requester);
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    device.forget(this);
    for (SimulatedQueuePair requester : waiting) {
      requester.decideLater(Status.UNREACHABLE, null, MemorySegment.NULL);
    }
    waiting.clear();
  }

  private final class Request implements ConnectionRequest {
    private final SimulatedQueuePair requester;
    private boolean answered;

    Request(SimulatedQueuePair requester) {
      this.requester = requester;
    }

    @Override
    public MemorySegment privateData() {
      return requester.request;
    }

    @Override
    public String peer() {
      return requester.device.name();
    }

    @Override
    public QueuePair accept(MemorySegment privateData) {
      answer();
      SimulatedQueuePair responder = new SimulatedQueuePair(device, requester);
      device.add(responder);
      requester.decideLater(Status.SUCCESS, responder, SimulatedDevice.copy(privateData));
      return responder;
    }

    @Override
    public void reject(MemorySegment privateData) {
      answer();
      requester.decideLater(Status.REJECTED, null, SimulatedDevice.copy(privateData));
    }

    private void answer() {
      if (answered) {
        throw new IllegalStateException("the request was answered before");
      }
      answered = true;
    }
  }
}
