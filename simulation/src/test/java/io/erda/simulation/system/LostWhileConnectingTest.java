package io.erda.simulation.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.SimulatedDevice;
import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedNetwork;
import io.erda.simulation.VirtualTime;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A client that connects over shared memory is stopped, and its server ends, after it has answered,
 * or before. When the client goes on, another server is there. Found by a tester: where the last
 * answer and the end of the server came with one poll, the client waited for all of its time-out.
 */
class LostWhileConnectingTest {
  private static final long ROUND_NS = 200;
  private static final long SECOND_NS = 1_000_000_000L;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** More rounds than a client needs to connect. */
  private static final int ROUNDS = 400;

  private final ErdaUnderTest erda =
      new ErdaUnderTest(
          new StoreGeometry(new LogGeometry(1, 1 << 16, 4096, 8), 64),
          ServiceOptions.DEFAULT,
          new ClientOptions(Duration.ofSeconds(20), CONNECT_TIMEOUT, null, 0, 1024, 1));

  private VirtualTime time;
  private SplittableRandom random;
  private StoreUnderTest.Server server;
  private String outcome;

  @Test
  void theClientGoesToTheNextServerAtOnce() throws IOException {
    for (int before = 0; before < ROUNDS; before++) {
      random = new SplittableRandom(before);
      time = new VirtualTime(random);
      SimulatedNetwork network =
          new SimulatedNetwork(time, random, NetworkModel.PAPERS.withReadsOutlivePeer(true));
      SimulatedDisk disk = new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, random);
      SimulatedDevice first = serve(network, disk);
      StoreUnderTest.Client client =
          erda.connect(network.device("client"), "store", time, new Outcome());
      outcome = null;
      assertTrue(client.put(1, segment("key"), segment("value")));
      rounds(client, before);
      rounds(null, ROUNDS);
      first.crash();
      disk.processCrash();
      serve(network, disk);
      time.runFor(SECOND_NS);
      long goesOnNs = time.getAsLong();
      for (int i = 0; outcome == null && time.getAsLong() - goesOnNs < 20 * SECOND_NS; i++) {
        rounds(client, 1);
      }
      String how = outcome + ", stopped after " + before + " rounds";
      assertTrue("done".equals(outcome) || outcome.startsWith("unknown"), how);
      long tookNs = time.getAsLong() - goesOnNs;
      assertTrue(tookNs < CONNECT_TIMEOUT.toNanos() / 2, how + ", " + tookNs + " ns");
      client.close();
    }
  }

  private SimulatedDevice serve(SimulatedNetwork network, SimulatedDisk disk) throws IOException {
    SimulatedDevice device = network.device("server", disk);
    server = erda.start(disk.directory(), device, "store", List.of(), time, random);
    return device;
  }

  private void rounds(StoreUnderTest.Client client, int count) {
    for (int i = 0; i < count; i++) {
      server.doWork();
      if (client != null) {
        client.doWork();
      }
      time.runFor(ROUND_NS);
    }
  }

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private final class Outcome implements StoreUnderTest.ClientEvents {
    @Override
    public void got(long token, MemorySegment value) {
      throw new AssertionError("nobody asked for it");
    }

    @Override
    public void done(long token) {
      outcome = "done";
    }

    @Override
    public void deleted(long token, boolean existed) {
      throw new AssertionError("nobody asked for it");
    }

    @Override
    public void compared(long token, boolean done) {
      throw new AssertionError("nobody asked for it");
    }

    @Override
    public void failed(long token, RuntimeException why) {
      outcome = "failed: " + why;
    }

    @Override
    public void unknown(long token, boolean last, RuntimeException why) {
      outcome = "unknown: " + why;
    }

    @Override
    public void broken(long token, RuntimeException why) {
      outcome = "broken: " + why;
    }
  }
}
