package io.erda.rdma.tcp;

import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;

/** Passes connection requests that have completed the handshake to the server's thread. */
final class TcpListener implements Listener {
  /** The user name of all peers that did not prove a secret. */
  private static final String UNPROVED = "over TCP without a secret";

  private final TcpServerDevice device;
  private final Listener inner;
  private final IoThread io;
  private final String address;

  TcpListener(TcpServerDevice device, Listener inner, IoThread io, String address) {
    this.device = device;
    this.inner = inner;
    this.io = io;
    this.address = address;
  }

  @Override
  public ConnectionRequest poll() {
    for (ConnectionRequest request = inner.poll(); request != null; request = inner.poll()) {
      ServedConnection connection = io.connection(Frame.getLong(request.privateData(), 0));
      if (connection != null) {
        return new Request(request, connection);
      }
      request.reject(MemorySegment.ofArray(new byte[0]));
    }
    return null;
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public void close() {
    io.refuse();
    inner.close();
  }

  private final class Request implements ConnectionRequest {
    private final ConnectionRequest request;
    private final ServedConnection connection;

    Request(ConnectionRequest request, ServedConnection connection) {
      this.request = request;
      this.connection = connection;
    }

    @Override
    public MemorySegment privateData() {
      return connection.privateData();
    }

    @Override
    public String peer() {
      return connection.peer();
    }

    /**
     * {@inheritDoc} A peer that proved the secret may have as many connections as the server's own
     * user.
     */
    @Override
    public String user() {
      return device.options().secret() == null ? UNPROVED : null;
    }

    @Override
    public QueuePair accept(MemorySegment data) {
      return new TcpResponder(device, request.accept(data), connection, io);
    }

    @Override
    public void reject(MemorySegment data) {
      request.reject(data);
    }
  }
}
