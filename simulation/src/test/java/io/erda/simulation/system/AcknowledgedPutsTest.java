package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.Seeds;
import java.io.IOException;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * Cases in which an acknowledged put was once lost, each with the shortest sequence that lost it:
 * one client, one operation at a time, and memory in which a visible store may not be durable.
 */
final class AcknowledgedPutsTest {
  private static final int SEEDS = 200;

  /**
   * The committing store of a put is not drained with it; recovery after a kill has to handle that.
   */
  @Test
  void committedWordsOutliveAKillAndThenAPowerFailure() {
    Seeds.each(
        SEEDS,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          OneClient host = new OneClient(random);
          for (int i = random.nextInt(1, 6); i > 0; i--) {
            host.put(random.nextInt(3));
          }
          host.processCrash();
          host.powerFailure();
          host.requireAcknowledged();
        });
  }

  /**
   * Below the low-water mark recovery does not look: an object whose committing store may still be
   * lost must stay above.
   */
  @Test
  void lowWaterMarkStaysBelowWhatMayStillBeLost() {
    Seeds.each(
        SEEDS,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          OneClient host = new OneClient(random);
          for (int failures = 0; failures < 5; failures++) {
            for (int i = random.nextInt(1, 8); i > 0; i--) {
              host.put(random.nextInt(8));
            }
            // Early in the next put too: an extent may end there, and the mark moves with it.
            host.beginPut(8);
            host.rounds(random.nextInt(30));
            host.powerFailure();
            host.requireAcknowledged();
          }
        });
  }

  /**
   * The store is inspected, too, so that damage that clients do not notice is found: a store that
   * is damaged after recovery is a failure.
   */
  @Test
  void theStoreIsInspectedWheneverAServerStarts() throws IOException {
    OneClient host = new OneClient(Seeds.random(1));
    host.put(1);
    String region =
        host.disk().names().stream()
            .filter(name -> name.startsWith("region-"))
            .findFirst()
            .orElseThrow();
    host.disk().corrupt(region, Region.HEADER_BYTES + ObjectLayout.HEADER_BYTES, 1);
    IllegalStateException e = assertThrows(IllegalStateException.class, host::processCrash);
    assertTrue(e.getMessage().contains("object is damaged"), e.getMessage());
  }

  /**
   * Where READs outlive a server, a connection that was lost while the server lives is no use for
   * READs either: the client has to make another one, not to fail each get.
   */
  @Test
  void getsGoOnOverAnotherConnection() {
    Seeds.each(
        SEEDS,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          OneClient host = new OneClient(random, NetworkModel.PAPERS.withReadsOutlivePeer(true));
          host.put(1);
          host.network().breakConnection(random);
          host.rounds(random.nextInt(2000));
          host.requireAcknowledged();
        });
  }
}
