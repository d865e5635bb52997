package io.erda.rdma.tcp;

import io.erda.rdma.StackRoom;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The bytes of one connection, plain or encrypted. Never blocks. One thread. Owns its channel. */
interface Transport extends AutoCloseable {
  /**
   * Takes bytes that have arrived. Returns how many; 0 when there are none now, −1 when the other
   * end has ended.
   */
  int read(ByteBuffer to) throws IOException;

  /** Sends as many bytes as the socket takes now; the buffer's position shows how many. */
  void write(ByteBuffer from) throws IOException;

  /** Whether bytes that were taken by {@link #write} wait for the socket. */
  boolean isWaiting();

  /** Whether more bytes can be read even if the socket has none. */
  boolean hasMore();

  /** Sends bytes that wait for the socket. */
  void flush() throws IOException;

  /** Whether the TLS handshake has begun and has not ended. */
  boolean isAgreeing();

  /**
   * Returns the bytes to which a proof is bound, so that a proof from one encrypted connection
   * can't be used in another; empty without encryption. REQUIRES: bytes were read.
   */
  byte[] binding() throws IOException;

  SocketChannel channel();

  @Override
  void close();

  /**
   * A transport without encryption. A thread of callers requires {@link StackRoom#OF_CHANNEL}
   * before it reads or writes.
   */
  final class Plain implements Transport {
    private static final byte[] NONE = {};
    private final SocketChannel channel;

    Plain(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
      return channel.read(to);
    }

    @Override
    public void write(ByteBuffer from) throws IOException {
      channel.write(from);
    }

    @Override
    public boolean isWaiting() {
      return false;
    }

    @Override
    public boolean hasMore() {
      return false;
    }

    @Override
    public void flush() {}

    @Override
    public boolean isAgreeing() {
      return false;
    }

    @Override
    public byte[] binding() {
      return NONE;
    }

    @Override
    public SocketChannel channel() {
      return channel;
    }

    @Override
    public void close() {
      Sockets.close(channel);
    }
  }
}
