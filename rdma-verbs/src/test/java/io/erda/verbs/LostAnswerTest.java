package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import io.erda.verbs.ffm.FfmCm;
import io.erda.verbs.ffm.FfmProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Soft RDMA lost the answer to a request for a connection, and the kernel sent it again when the
 * client had given up. In this test the first request gets no answer: a program receives it that
 * never answers, and then a server listens instead of the program; or there is no server until the
 * second request.
 */
@EnabledIfSystemProperty(
    named = "erda.rdma.address",
    matches = ".+",
    disabledReason = "no RDMA device is named here; testbed/rdma has one")
class LostAnswerTest {
  private static final String ADDRESS = System.getProperty("erda.rdma.address") + ":19999";
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** The guest's clock measures it; the first request has a third of it. */
  private static final Duration TIMEOUT = Duration.ofSeconds(12);

  private final Recorder atClient = new Recorder();

  @Test
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void isAskedForAgainBeforeTheClientGivesUp() throws IOException {
    FfmCm cm = FfmProvider.install().openCm();
    RdmaEventChannel channel = cm.createEventChannel();
    RdmaCmId deaf = channel.createId(RdmaCm.RDMA_PS_TCP);
    deaf.bindAddr(Addresses.parse(ADDRESS));
    deaf.listen(1);
    try (VerbsDevice client = VerbsDevice.open(null, System::nanoTime, new SecureRandom());
        VerbsDevice server = VerbsDevice.open(null, System::nanoTime, new SecureRandom());
        QueuePair asking = client.connect(ADDRESS, NOTHING, TIMEOUT)) {
      RdmaCmId unanswered = firstRequest(channel, asking);
      deaf.destroyId();
      try (Listener listener = server.listen(ADDRESS)) {
        QueuePair answering = connect(asking, listener);
        assertEquals(
            new Recorder.Completion(0, Opcode.CONNECT, Status.SUCCESS, 0, 0), atClient.last());
        answering.close();
      }
      unanswered.destroyId();
    }
    cm.destroyEventChannel(channel);
  }

  @Test
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aServerThatWasAwayMeetsWhoStillWaits() throws IOException {
    try (VerbsDevice client = VerbsDevice.open(null, System::nanoTime, new SecureRandom());
        VerbsDevice server = VerbsDevice.open(null, System::nanoTime, new SecureRandom());
        Listener listener = server.listen(ADDRESS);
        QueuePair asking = client.connect(ADDRESS, NOTHING, TIMEOUT)) {
      long backNs = System.nanoTime() + TIMEOUT.toNanos() / 2;
      while (System.nanoTime() - backNs < 0) {
        asking.poll(atClient, 1);
        assertTrue(atClient.all.isEmpty(), () -> "no answer can have come: " + atClient.all);
      }
      QueuePair answering = connect(asking, listener);
      assertEquals(
          new Recorder.Completion(0, Opcode.CONNECT, Status.SUCCESS, 0, 0), atClient.last());
      assertNull(listener.poll(), "nobody else asks");
      assertEquals(0, server.figures().get("rdma.refused.want").getAsLong());
      answering.close();
    }
  }

  private RdmaCmId firstRequest(RdmaEventChannel channel, QueuePair asking) throws IOException {
    RdmaCmEvent event = null;
    while (event == null) {
      asking.poll(atClient, 1);
      assertTrue(atClient.all.isEmpty(), () -> "no answer can have come: " + atClient.all);
      event = channel.getCmEvent(0);
    }
    assertEquals(CmEvents.CONNECT_REQUEST, event.getEvent());
    RdmaCmId request = event.getConnIdPriv();
    event.ackEvent();
    return request;
  }

  private QueuePair connect(QueuePair asking, Listener listener) {
    QueuePair answering = null;
    while (atClient.all.isEmpty()) {
      asking.poll(atClient, 1);
      ConnectionRequest request = listener.poll();
      if (request != null) {
        answering = request.accept(NOTHING);
      }
    }
    return answering;
  }
}
