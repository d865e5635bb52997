package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.erda.verbs.ffm.FfmCm;
import io.erda.verbs.ffm.FfmProvider;
import java.io.IOException;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A listener asks the kernel whether a peer still waits. Where the kernel failed to answer, the
 * failure left the listener's poll, and with it ended the server.
 */
@EnabledIfSystemProperty(
    named = "erda.rdma.address",
    matches = ".+",
    disabledReason = "no RDMA device is named here; testbed/rdma has one")
class UnansweredQuestionTest {
  @Test
  void theRequestIsRefusedAndTheListenerGoesOn() throws IOException {
    FfmCm cm = FfmProvider.install().openCm();
    RdmaEventChannel channel = cm.createEventChannel();
    try (VerbsDevice device = VerbsDevice.open(null, System::nanoTime, new SecureRandom())) {
      RdmaCmId request = channel.createId(RdmaCm.RDMA_PS_TCP);
      VerbsListener listener =
          new VerbsListener(
              device,
              channel.createId(RdmaCm.RDMA_PS_TCP),
              "nowhere",
              asked -> {
                throw new IOException("the device was removed");
              });
      listener.requested(request);
      assertEquals(1, device.figures().get("rdma.refused.want").getAsLong());
      assertFalse(request.isOpen());
      assertNull(listener.poll());
      listener.close();
    }
    cm.destroyEventChannel(channel);
  }
}
