package io.erda.simulation.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.Promise;
import io.erda.server.engine.ServerLimits;
import io.erda.server.engine.StoreOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.Seeds;
import io.erda.simulation.SimulatedDevice;
import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedNetwork;
import io.erda.simulation.VirtualTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * What was acknowledged and lost once, each by the shortest way to lose it: one client, one
 * operation at a time, memory in which what is visible is not yet durable.
 */
final class AcknowledgedPutsTest {
  private static final int SEEDS = 200;

  /**
   * The committing store of a put is not drained with it; whoever recovers after a kill has to see
   * to that.
   */
  @Test
  void committedWordsOutliveAKillAndThenAPowerFailure() {
    Seeds.each(
        SEEDS,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          Host host = new Host(random);
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
          Host host = new Host(random);
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
   * What clients do not ask for is looked at, too: a store that recovery leaves unsound is a
   * finding of its own.
   */
  @Test
  void theStoreIsInspectedWheneverAServerStarts() throws IOException {
    Host host = new Host(Seeds.random(1));
    host.put(1);
    String region =
        host.disk.names().stream()
            .filter(name -> name.startsWith("region-"))
            .findFirst()
            .orElseThrow();
    host.disk.corrupt(region, Region.HEADER_BYTES + ObjectLayout.HEADER_BYTES, 1);
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
          Host host = new Host(random, NetworkModel.PAPERS.withReadsOutlivePeer(true));
          host.put(1);
          host.network.breakConnection(random);
          host.rounds(random.nextInt(2000));
          host.requireAcknowledged();
        });
  }

  /** A server host, and a client on another one that is started anew with the server. */
  private static final class Host implements StoreUnderTest.ClientEvents {
    /**
     * With segments of 4 KiB the low-water mark is stored every 4 KiB or so instead of every 256: a
     * few puts move it.
     */
    private static final StoreOptions STORE =
        new StoreOptions(new LogGeometry(1, 1 << 16, 4096, 8), 64);

    private static final ClientOptions CLIENT =
        new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(200), Promise.POWER, 0, 1024, 1);
    private static final int VALUE_BYTES_MAX = 3000;
    private static final long ROUND_NS = 200;
    private static final int ROUNDS_MAX = 100_000;

    private final RandomGenerator random;
    private final VirtualTime time;
    private final SimulatedNetwork network;
    private final SimulatedDisk disk;
    private final StoreUnderTest erda = new ErdaUnderTest(STORE, ServerLimits.DEFAULT, CLIENT);
    private final Map<Integer, String> acknowledged = new HashMap<>();
    private SimulatedDevice serverDevice;
    private SimulatedDevice clientDevice;
    private StoreUnderTest.Server server;
    private StoreUnderTest.Client client;
    private int puts;
    private boolean ended;
    private String outcome;

    Host(RandomGenerator random) {
      this(random, NetworkModel.PAPERS);
    }

    Host(RandomGenerator random, NetworkModel model) {
      this.random = random;
      time = new VirtualTime(random);
      network = new SimulatedNetwork(time, random, model);
      disk = new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, random);
      start();
    }

    private void start() {
      serverDevice = network.device("server", disk);
      clientDevice = network.device("client");
      try {
        server = erda.start(disk.directory(), serverDevice, "store", time, random);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      client = erda.connect(clientDevice, "store", time, this);
    }

    void processCrash() {
      clientDevice.crash();
      serverDevice.crash();
      disk.processCrash();
      start();
    }

    void powerFailure() {
      clientDevice.crash();
      serverDevice.powerFailure();
      disk.powerFailure(random);
      start();
    }

    private static MemorySegment segment(String text) {
      return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    /** No two values are equal. */
    private String nextValue() {
      return ++puts + "-" + "x".repeat(random.nextInt(VALUE_BYTES_MAX));
    }

    private static String number(String value) {
      return value == null ? "nothing" : value.split("-", 2)[0];
    }

    void beginPut(int key) {
      ended = false;
      assertTrue(client.put(key, segment("key" + key), segment(nextValue())));
    }

    void put(int key) {
      String value = nextValue();
      ended = false;
      assertTrue(client.put(key, segment("key" + key), segment(value)));
      untilEnded();
      assertEquals("done", outcome);
      acknowledged.put(key, value);
    }

    void requireAcknowledged() {
      acknowledged.forEach((key, value) -> {
        ended = false;
        assertTrue(client.get(key, segment("key" + key)));
        untilEnded();
        if (!value.equals(outcome)) {
          fail(
              "key"
                  + key
                  + ": put "
                  + number(value)
                  + " of "
                  + puts
                  + " was acknowledged, there is "
                  + number(outcome));
        }
      });
    }

    private void untilEnded() {
      for (int i = 0; !ended; i++) {
        assertTrue(i < ROUNDS_MAX, "an operation never ends");
        rounds(1);
      }
    }

    void rounds(int count) {
      for (int i = 0; i < count; i++) {
        server.doWork();
        client.doWork();
        time.runFor(ROUND_NS);
      }
    }

    private void end(String how) {
      ended = true;
      outcome = how;
    }

    @Override
    public void got(long token, MemorySegment value) {
      end(value == null ? null : new String(value.toArray(ValueLayout.JAVA_BYTE), UTF_8));
    }

    @Override
    public void done(long token) {
      end("done");
    }

    @Override
    public void deleted(long token, boolean existed) {
      end("deleted " + existed);
    }

    @Override
    public void failed(long token, RuntimeException why) {
      end("failed: " + why);
    }

    @Override
    public void unknown(long token, RuntimeException why) {
      end("unknown: " + why);
    }

    @Override
    public void broken(long token, RuntimeException why) {
      end("broken: " + why);
    }
  }
}
