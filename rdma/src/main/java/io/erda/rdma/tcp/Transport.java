package io.erda.rdma.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * The bytes of one connection, as they are or encrypted. Never blocks. One thread. Owns its
 * channel.
 */
interface Transport extends AutoCloseable {
  /**
   * Takes what has arrived. Returns how many bytes, 0 when there is nothing now, −1 when the other
   * end has ended.
   */
  int read(ByteBuffer to) throws IOException;

  /** Sends as much as the socket takes now; the buffer's position says how much. */
  void write(ByteBuffer from) throws IOException;

  /** Whether bytes that were taken by {@link #write} wait for the socket. */
  boolean isWaiting();

  /** Whether more can be read though the socket may have nothing. */
  boolean hasMore();

  /** Sends what {@link #isWaiting}. */
  void flush() throws IOException;

  /** Whether the other end has begun to agree on encryption, and that is not done. */
  boolean isAgreeing();

  /**
   * What a proof is bound to, so that nobody can pass it on from one encrypted connection to
   * another; empty without encryption. REQUIRES: something was read.
   */
  byte[] binding() throws IOException;

  SocketChannel channel();

  @Override
  void close();

  /** Bytes as they are. */
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
