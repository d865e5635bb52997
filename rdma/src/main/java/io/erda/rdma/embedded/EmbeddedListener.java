package io.erda.rdma.embedded;

import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import io.erda.rdma.rings.QueueLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedQueue;

/** The requests that wait at one address of an {@link EmbeddedNetwork}. */
final class EmbeddedListener implements Listener {
  private final EmbeddedDevice device;
  private final EmbeddedNetwork network;
  private final String address;
  private final ConcurrentLinkedQueue<EmbeddedQueuePair> waiting = new ConcurrentLinkedQueue<>();
  private volatile boolean closed;

  EmbeddedListener(EmbeddedDevice device, EmbeddedNetwork network, String address) {
    this.device = device;
    this.network = network;
    this.address = address;
  }

  /** Called by the requester's thread. */
  boolean offer(EmbeddedQueuePair requester) {
    waiting.add(requester);
    // At least one of the two threads notices the other: this one sees that the listener is closed,
    // or close() sees the request.
    if (closed && waiting.remove(requester)) {
      return false;
    }
    device.wakeup();
    return true;
  }

  @Override
  public ConnectionRequest poll() {
    EmbeddedQueuePair requester = waiting.poll();
    return requester == null ? null : new Request(requester);
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public void close() {
    closed = true;
    network.unlisten(this);
    device.forget(this);
    for (EmbeddedQueuePair requester = waiting.poll();
        requester != null;
        requester = waiting.poll()) {
      decide(requester, QueueLayout.REFUSED, MemorySegment.ofArray(new byte[0]));
    }
  }

  private void decide(EmbeddedQueuePair requester, long state, MemorySegment privateData) {
    requester.peer(device);
    QueueLayout.setPrivateData(requester.queue, QueueLayout.RESPONDER_DATA_OFFSET, privateData);
    QueueLayout.WORD.setVolatile(requester.queue, QueueLayout.RESPONDER_STATE_OFFSET, state);
    requester.device().wakeup();
  }

  private final class Request implements ConnectionRequest {
    private final EmbeddedQueuePair requester;
    private boolean answered;

    Request(EmbeddedQueuePair requester) {
      this.requester = requester;
    }

    @Override
    public MemorySegment privateData() {
      return QueueLayout.privateData(requester.queue, QueueLayout.REQUESTER_DATA_OFFSET);
    }

    @Override
    public String peer() {
      return "this process";
    }

    @Override
    public QueuePair accept(MemorySegment privateData) {
      answer();
      EmbeddedQueuePair queuePair = device.accept(requester);
      queuePair.peer(requester.device());
      requester.accepted(queuePair);
      decide(requester, QueueLayout.OPEN, privateData);
      return queuePair;
    }

    @Override
    public void reject(MemorySegment privateData) {
      answer();
      decide(requester, QueueLayout.REFUSED, privateData);
    }

    private void answer() {
      if (answered) {
        throw new IllegalStateException("the request was answered before");
      }
      answered = true;
    }
  }
}
