package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.DeepStack;
import io.erda.rdma.StackRoom;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class PlainTransportTest {
  private static final int OVERFLOWS = 200;

  /**
   * Found by a test: the overflow left a lock of the JDK's socket to a thread that had ended, and
   * whoever closed the socket waited for ever.
   */
  @Test
  void aSocketInWhichAStackOverflowedIsClosed() throws Exception {
    try (ServerSocketChannel server =
        ServerSocketChannel.open()
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(1);
      for (int round = 0; round < OVERFLOWS; round++) {
        SocketChannel channel = SocketChannel.open(server.getLocalAddress());
        Sockets.configure(channel);
        Transport transport = new Transport.Plain(channel);
        boolean writes = round % 2 == 0;
        try (SocketChannel peer = server.accept()) {
          Runnable call =
              () -> {
                StackRoom.require(StackRoom.OF_CHANNEL);
                try {
                  if (writes) {
                    transport.write(bytes.clear());
                  } else {
                    transport.read(bytes.clear());
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              };
          assertTrue(DeepStack.overflow(round, call) > 0);
          transport.close();
          assertFalse(channel.isOpen());
          assertTrue(peer.isOpen());
        }
      }
    }
  }
}
