package io.erda.rdma.shm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.DeepStack;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ShmSocketTest {
  private static final int BYTES = 50_000;
  private static final int OVERFLOWS = 200;

  @TempDir Path directory;

  /** A thread that takes what rang does something else in between, however much a peer writes. */
  @Test
  void aPeerThatRingsWithoutEndIsTakenInParts() throws IOException {
    try (ShmDirectory shm = ShmDirectory.openToServe(directory, null);
        ServerSocketChannel server = ShmSocket.listen(shm)) {
      ShmSocket socket = ShmSocket.connect(shm);
      assertNotNull(socket);
      try (SocketChannel peer = server.accept()) {
        peer.write(ByteBuffer.allocate(BYTES));
        assertTrue(socket.drain());
        ByteBuffer left = ByteBuffer.allocate(BYTES);
        assertTrue(socket.channel().read(left) > 0, "taken at once");
        assertTrue(left.position() < BYTES, "nothing was taken");
        assertTrue(socket.drain(), "nothing is left, and the peer is there");
      }
      assertFalse(socket.drain(), "the peer left");
      socket.close();
    }
  }

  /**
   * Found by a test: the overflow left a lock of the JDK's socket to a thread that had ended, and
   * whoever closed the socket waited for ever.
   */
  @Test
  void aSocketInWhichAStackOverflowedIsClosed() throws Exception {
    try (ShmDirectory shm = ShmDirectory.openToServe(directory, null);
        ServerSocketChannel server = ShmSocket.listen(shm)) {
      for (int round = 0; round < OVERFLOWS; round++) {
        ShmSocket socket = ShmSocket.connect(shm);
        assertNotNull(socket);
        try (SocketChannel peer = server.accept()) {
          assertNotNull(peer);
          Runnable call = round % 2 == 0 ? socket::ring : socket::drain;
          assertTrue(DeepStack.overflow(round, call) > 0);
          socket.close();
          assertFalse(socket.channel().isOpen());
        }
      }
    }
  }
}
