package io.erda.rdma.tcp;

import io.erda.pmem.Backing;
import io.erda.rdma.DeviceFixture;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;

/** A serving and a connecting tcp device of one JVM, over loopback. */
final class TcpFixture implements DeviceFixture {
  private final TcpServerDevice server;
  private final TcpClientDevice client;
  private final Arena arena = Arena.ofShared();
  private final int port = freePort();
  private final int deadPort = freePort();

  TcpFixture() throws IOException {
    this(TcpOptions.of(System::nanoTime, new SecureRandom()));
  }

  TcpFixture(TcpOptions both) throws IOException {
    this(both, both);
  }

  TcpFixture(TcpOptions ofServer, TcpOptions ofClient) throws IOException {
    this.server = TcpServerDevice.open(ofServer);
    this.client = TcpClientDevice.open(ofClient);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public TcpServerDevice server() {
    return server;
  }

  @Override
  public TcpClientDevice client() {
    return client;
  }

  @Override
  public String address() {
    return "127.0.0.1:" + port;
  }

  @Override
  public String deadAddress() {
    return "127.0.0.1:" + deadPort;
  }

  @Override
  public ServerMemory serverMemory(long bytes) {
    return new ServerMemory(arena.allocate(bytes, 8), Backing.none(bytes));
  }

  @Override
  public MemorySegment clientMemory(long bytes) {
    return arena.allocate(bytes, 8);
  }

  @Override
  public void step() {
    Thread.yield();
  }

  @Override
  public boolean hasThreads() {
    return true;
  }

  @Override
  public void close() {
    client.close();
    server.close();
    arena.close();
  }
}
