package io.erda.simulation.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.protocol.Promise;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
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
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * A server host, and a client on another one that is started anew with the server: for tests that
 * do one operation at a time.
 */
final class OneClient implements StoreUnderTest.ClientEvents {
  /**
   * With segments of 4 KiB the low-water mark is stored every 4 KiB or so instead of every 256: a
   * few puts move it.
   */
  private static final StoreGeometry STORE =
      new StoreGeometry(new LogGeometry(1, 1 << 16, 4096, 8), 64);

  private static final ClientOptions CLIENT =
      new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(200), null, 0, 1024, 1);
  private static final int VALUE_BYTES_MAX = 3000;
  private static final long ROUND_NS = 200;
  private static final int ROUNDS_MAX = 100_000;

  private final RandomGenerator random;
  private final VirtualTime time;
  private final SimulatedNetwork network;
  private final SimulatedDisk disk;
  private final ErdaUnderTest erda = new ErdaUnderTest(STORE, ServiceOptions.DEFAULT, CLIENT);
  private final Map<Integer, String> acknowledged = new HashMap<>();
  private SimulatedDevice serverDevice;
  private SimulatedDevice clientDevice;
  private StoreUnderTest.Server server;
  private StoreUnderTest.Client client;
  private int crashAtStart;
  private int puts;
  private boolean ended;
  private String outcome;

  OneClient(RandomGenerator random) {
    this(random, NetworkModel.PAPERS);
  }

  OneClient(RandomGenerator random, NetworkModel model) {
    this(random, model, false);
  }

  /**
   * @param ordinaryFiles whether power failures are survived only where that was asked for
   */
  OneClient(RandomGenerator random, NetworkModel model, boolean ordinaryFiles) {
    this.random = random;
    time = new VirtualTime(random);
    network = new SimulatedNetwork(time, random, model);
    disk = new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, random);
    if (ordinaryFiles) {
      disk.ordinaryFiles();
    }
    start();
  }

  /** Returns the present promise of the store. */
  Promise promise() {
    return erda.promise();
  }

  SimulatedDisk disk() {
    return disk;
  }

  SimulatedNetwork network() {
    return network;
  }

  /** Sets the promise that later servers must give; null: none. */
  void wanted(Promise promise) {
    erda.wanted(promise);
  }

  /** Servers that start from now on crash in so many events; 0: they don't. */
  void atNextStart(int events) {
    crashAtStart = events;
  }

  private void start() {
    serverDevice = network.device("server", disk);
    clientDevice = network.device("client");
    if (crashAtStart > 0) {
      disk.crashAfter(crashAtStart);
    }
    try {
      server = erda.start(disk.directory(), serverDevice, "store", List.of(), time, random);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    disk.crashNever();
    client = erda.connect(clientDevice, "store", time, this);
  }

  void processCrash() {
    clientDevice.crash();
    serverDevice.crash();
    disk.processCrash();
    start();
  }

  /** Stops the server in order, and starts another one. */
  void restart() {
    clientDevice.crash();
    server.release();
    processCrash();
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
  public void compared(long token, boolean done) {
    throw new AssertionError("nobody asked for it");
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
  public void unknown(long token, boolean last, RuntimeException why) {
    end("unknown: " + why);
  }

  @Override
  public void broken(long token, RuntimeException why) {
    end("broken: " + why);
  }
}
