package io.erda.server.engine;

import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;

/** A listener whose peers all belong to one user other than the server's own. */
public record ListenerOfAnotherUser(Listener listener, String user) implements Listener {
  @Override
  public ConnectionRequest poll() {
    ConnectionRequest request = listener.poll();
    return request == null ? null : new RequestOfAnotherUser(request, user);
  }

  @Override
  public String address() {
    return listener.address();
  }

  @Override
  public void close() {
    listener.close();
  }

  private record RequestOfAnotherUser(ConnectionRequest request, String user)
      implements ConnectionRequest {
    @Override
    public MemorySegment privateData() {
      return request.privateData();
    }

    @Override
    public String peer() {
      return request.peer();
    }

    @Override
    public QueuePair accept(MemorySegment privateData) {
      return request.accept(privateData);
    }

    @Override
    public void reject(MemorySegment privateData) {
      request.reject(privateData);
    }
  }
}
