package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests the resources that an embedded device keeps for connections that it ended before their
 * peers did.
 */
class EmbeddedDepartingTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
  private final EmbeddedDevice server = network.device();
  private final EmbeddedDevice client = network.device();

  /** Connects, and closes the server's end. */
  private QueuePair ended(Listener listener) {
    QueuePair connecting = client.connect("store", NOTHING, Duration.ofSeconds(5));
    ConnectionRequest request = listener.poll();
    request.accept(NOTHING).close();
    connecting.poll(new Recorder(), 8);
    return connecting;
  }

  /** Nobody asks for strangers here: a server does only while it gives a region back. */
  @Test
  void nothingIsKeptOfPeersThatLeft() throws IOException {
    Listener listener = server.listen("store");
    for (int i = 0; i < 100; i++) {
      ended(listener).close();
      assertTrue(server.kept() <= 1, () -> "kept: " + server.kept());
    }
    assertEquals(0, server.strangers());
  }

  @Test
  void peersThatStayAreStrangers() throws IOException {
    Listener listener = server.listen("store");
    List<QueuePair> staying = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      staying.add(ended(listener));
    }
    assertEquals(5, server.strangers());
    staying.forEach(QueuePair::close);
    assertEquals(0, server.strangers());
  }
}
