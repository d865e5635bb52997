package io.erda.verbs;

import com.ibm.disni.verbs.RdmaCmId;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * Accepts all connections at the connection manager at once. A peer sends its private data in its
 * first message, because the connection manager transfers only 56 bytes.
 */
final class VerbsListener implements Listener {
  /**
   * The number of waiting requests. Requests that were given up take places, too, until this end
   * handles them.
   */
  static final int BACKLOG = 1024;

  /** The most connections without a greeting; the oldest is dropped first. */
  private static final int GREETING_MAX = 64;

  private final VerbsDevice device;
  private final RdmaCmId id;
  private final String address;
  private final WaitingCheck waiting;
  private final ArrayDeque<VerbsQueuePair> greeting = new ArrayDeque<>();
  private boolean closed;

  /** Whether a peer still waits for the answer to its request. */
  interface WaitingCheck {
    /** Throws an {@link IOException} when the kernel or the hardware fails. */
    boolean isWaiting(RdmaCmId request) throws IOException;
  }

  VerbsListener(VerbsDevice device, RdmaCmId id, String address, WaitingCheck waiting) {
    this.device = device;
    this.id = id;
    this.address = address;
    this.waiting = waiting;
  }

  /** Accepts a request, or drops it. An error does not affect other connections. */
  void requested(RdmaCmId connection) {
    try {
      if (waiting.isWaiting(connection)) {
        greet(connection);
        return;
      }
    } catch (IOException e) {
      device.refusedForWant();
    }
    VerbsDevice.drop(connection);
  }

  private void greet(RdmaCmId connection) throws IOException {
    String peer = Addresses.format((InetSocketAddress) connection.getDestination());
    VerbsQueuePair queuePair = VerbsQueuePair.asked(device, connection, peer);
    device.add(queuePair);
    greeting.add(queuePair);
    if (greeting.size() > GREETING_MAX) {
      leave(greeting.remove());
    }
  }

  /** Closes a connection that has no owner. An error does not affect other connections. */
  static void leave(VerbsQueuePair queuePair) {
    try {
      queuePair.close();
    } catch (IllegalStateException e) {
      // The remaining objects are released when the device is closed.
    }
  }

  @Override
  public ConnectionRequest poll() {
    if (closed) {
      return null;
    }
    try {
      device.hearWatcher();
      device.pump(null);
    } catch (IOException e) {
      throw new IllegalStateException("can't listen at " + address, e);
    }
    for (Iterator<VerbsQueuePair> all = greeting.iterator(); all.hasNext(); ) {
      VerbsQueuePair each = all.next();
      each.progress();
      if (each.isOver()) {
        all.remove();
        leave(each);
      } else if (each.isAsked()) {
        all.remove();
        return new Request(each);
      }
    }
    return null;
  }

  private final class Request implements ConnectionRequest {
    private final VerbsQueuePair queuePair;
    private boolean answered;

    Request(VerbsQueuePair queuePair) {
      this.queuePair = queuePair;
    }

    @Override
    public MemorySegment privateData() {
      return queuePair.privateData();
    }

    @Override
    public String peer() {
      return queuePair.peer();
    }

    @Override
    public QueuePair accept(MemorySegment privateData) {
      byte[] answer = Addresses.privateData(privateData);
      answer();
      queuePair.accept(answer);
      return queuePair;
    }

    @Override
    public void reject(MemorySegment privateData) {
      byte[] answer = Addresses.privateData(privateData);
      answer();
      queuePair.reject(answer);
      device.refuse(queuePair);
    }

    private void answer() {
      if (answered) {
        throw new IllegalStateException("the request was answered already");
      }
      answered = true;
    }
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
    greeting.forEach(VerbsQueuePair::close);
    greeting.clear();
    try {
      device.forget(this, id);
    } catch (IOException e) {
      throw new IllegalStateException("can't stop listening at " + address, e);
    }
  }
}
