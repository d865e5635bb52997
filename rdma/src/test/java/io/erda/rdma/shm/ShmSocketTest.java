package io.erda.rdma.shm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ShmSocketTest {
  private static final int BYTES = 50_000;

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
}
