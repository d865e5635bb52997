package io.erda.torture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import io.erda.server.ErdaServer;
import io.erda.server.Listening;
import io.erda.server.ServerOptions;
import io.erda.torture.FaultyWire.Fault;
import io.erda.torture.FaultyWire.Kind;
import io.erda.torture.FaultyWire.Plan;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One bit is changed during a transfer between a client and its server over TCP. After that each
 * result of the client is right, or an error. An exchange is a handshake, gets, an absent get,
 * puts, a delete, conditions, an iteration and stats. {@code -Derda.flips=N} flips N bits instead
 * of a few hundred, spread over all of an exchange in both directions, half of them with a secret;
 * {@code -Derda.seed=S} selects the bits.
 */
@Timeout(value = 120, unit = java.util.concurrent.TimeUnit.MINUTES)
final class FlippedBitsTest {
  private static final int FLIPS = Integer.getInteger("erda.flips", 240);
  private static final long SEED = Long.getLong("erda.seed", System.nanoTime());

  /** Keys of rounds have so many names. */
  private static final int NAMES = 64;

  private static final ClientOptions OPTIONS =
      ClientOptions.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(3))
          .withOperationTimeout(Duration.ofSeconds(3));

  private static final byte[] KEY = bytes("key");
  private static final byte[] NEWEST = bytes("newest");
  private static final byte[] LONG_KEY = bytes("long");
  private static final byte[] LONG_VALUE = new byte[20_000];
  private static final byte[] ABSENT = bytes("absent");

  @TempDir private Path directory;

  private final SplittableRandom random = new SplittableRandom(SEED);

  /** The change for the next connection; null: none. */
  private final AtomicReference<Plan> next = new AtomicReference<>();

  /** Names of rounds whose outcome is unknown: they may have a value. */
  private final Set<String> undecided = new HashSet<>();

  private ErdaClient direct;
  private FaultyWire wire;
  private String query = "";

  /** Bytes that had gone to the client when its last exchange began. */
  private long began;

  /** The same when what is short in it had been done. */
  private long wordsEnd;

  private int rounds = 1;
  private int answers;
  private int errors;

  @Test
  void withoutASecret() throws IOException {
    flip(Map.of());
  }

  @Test
  void withASecret() throws IOException {
    Path secret = directory.resolve("secret");
    Files.createFile(
        secret, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(secret, "a secret of more than sixteen bytes");
    query = "?secret-file=" + secret;
    flip(Map.of("secret-file", secret.toString()));
  }

  private void flip(Map<String, String> parameters) throws IOException {
    ServerOptions options =
        ServerOptions.DEFAULTS
            .withCapacityBytes(64 << 20)
            .withRegionBytes(1 << 20)
            .withBuckets(64)
            .withListening(List.of(new Listening("erda", "127.0.0.1:0", parameters)));
    try (ErdaServer server = ErdaServer.start(directory.resolve("data"), options);
        ErdaClient client = ErdaClient.connect(server.uri())) {
      direct = client;
      prepare();
      String address = server.uris().get(1).replaceAll("^erda://|\\?.*", "");
      int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
      try (FaultyWire faulty =
          new FaultyWire(
              new InetSocketAddress("127.0.0.1", port),
              number -> {
                Plan plan = next.getAndSet(null);
                return plan == null ? Plan.NONE : plan;
              })) {
        wire = faulty;
        flipAll();
      }
    }
  }

  private void prepare() {
    direct.put(KEY, bytes("older"));
    direct.put(KEY, NEWEST);
    new SplittableRandom(7).nextBytes(LONG_VALUE);
    direct.put(LONG_KEY, LONG_VALUE);
    for (int i = 0; i < 10; i++) {
      direct.put(bytes("other " + i), bytes("value " + i));
    }
  }

  private void flipAll() {
    exchange(0); // The server makes its first regions.
    long toServer = wire.counts().bytesToServer.get();
    exchange(1);
    assertEquals(0, errors, "without a flip all is done");
    toServer = wire.counts().bytesToServer.get() - toServer;
    long wordsToClient = wordsEnd - began;
    long toClient = wire.counts().bytesToClient.get() - began;
    System.out.printf(
        "FlippedBitsTest: %d flips; %d bytes to the server, %d and %d to the client, seed %d%n",
        FLIPS / 2, toServer, wordsToClient, toClient - wordsToClient, SEED);
    // Most bytes are a long value's and of an iteration, which would leave few flips for the rest.
    flip(true, 0, toServer, FLIPS / 5);
    flip(false, 0, wordsToClient, FLIPS / 5);
    flip(false, wordsToClient, toClient, FLIPS / 10);
    long flipped = wire.counts().flips.get();
    long damaged = direct.stats().getOrDefault("tcp.refused.damaged", 0L);
    System.out.printf(
        "FlippedBitsTest: %d flipped, of which the server found %d; %d right answers, %d errors%n",
        flipped, damaged, answers, errors);
    assertTrue(flipped >= FLIPS / 2 * 8 / 10, "only " + flipped + " flips happened");
    assertTrue(damaged > 0, "the server found none");
    assertTrue(answers > errors, "hardly anything was answered");
  }

  /** Flips bits of some bytes of a direction, spread evenly, so that nothing is left out. */
  private void flip(boolean up, long from, long to, int flips) {
    long bits = 8 * (to - from);
    double step = (double) bits / flips;
    double at = random.nextDouble(step);
    for (int i = 0; i < flips; i++, at += step) {
      long bit = 8 * from + Math.min(bits - 1, (long) at);
      next.set(once(up, new Fault(Kind.FLIP, bit / 8, (int) (bit % 8), 0)));
      try {
        exchange(++rounds);
      } catch (AssertionError e) {
        throw new AssertionError(
            "bit %d of byte %d to the %s flipped, seed %d: %s"
                .formatted(bit % 8, bit / 8, up ? "server" : "client", SEED, e.getMessage()),
            e);
      }
      next.set(null);
    }
  }

  private static Plan once(boolean up, Fault fault) {
    AtomicBoolean done = new AtomicBoolean();
    return toServer -> toServer == up && !done.getAndSet(true) ? fault : null;
  }

  /**
   * Makes one connection that does each operation once. Throws an {@link AssertionError} for a
   * wrong result.
   */
  private void exchange(int round) {
    String name = Integer.toString(round % NAMES);
    byte[] put = bytes("put-" + name);
    byte[] deleted = bytes("deleted-" + name);
    byte[] conditional = bytes("conditional-" + name);
    byte[] value = bytes("value of round " + round);
    direct.delete(put);
    direct.put(deleted, value);
    direct.put(conditional, value);
    for (String prefix : List.of("put-", "deleted-", "conditional-")) {
      undecided.remove(prefix + name);
    }
    began = wire.counts().bytesToClient.get();
    ErdaUri uri = ErdaUri.parse("erda://" + wire.address() + query);
    try (ErdaClient client = ErdaClient.connect(uri, OPTIONS)) {
      answered(() -> assertArrayEquals(NEWEST, client.get(KEY), "get"));
      answered(() -> assertArrayEquals(null, client.get(ABSENT), "absent get"));
      boolean stored = answered(() -> client.put(put, value));
      byte[] now = direct.get(put);
      assertTrue(
          Arrays.equals(now, value) || !stored && now == null,
          "put: " + (stored ? "done" : "undecided") + ", and now " + text(now));
      boolean removed =
          answered(() -> assertTrue(client.delete(deleted), "delete of what is there"));
      now = direct.get(deleted);
      assertTrue(now == null || !removed && Arrays.equals(now, value), "deleted: now " + text(now));
      if (!stored) {
        undecided.add("put-" + name);
      }
      if (!removed) {
        undecided.add("deleted-" + name);
      }
      conditions(client, conditional, value, round);
      answered(() -> stats(client));
      answered(() -> assertArrayEquals(NEWEST, client.get(KEY), "get"));
      wordsEnd = wire.counts().bytesToClient.get();
      answered(() -> assertArrayEquals(LONG_VALUE, client.get(LONG_KEY), "get of a long value"));
      answered(() -> iterate(client, name));
    } catch (ErdaException e) {
      errors++;
    } finally {
      direct.delete(put);
      direct.delete(deleted);
      direct.delete(conditional);
    }
  }

  private void conditions(ErdaClient client, byte[] key, byte[] value, int round) {
    byte[] wanted = bytes("wanted of round " + round);
    answered(() ->
        assertEquals(
            false, client.compareAndSet(key, bytes("another"), wanted), "a false condition"));
    answered(() -> assertEquals(false, client.putIfAbsent(key, wanted), "put if absent"));
    assertArrayEquals(value, direct.get(key), "a condition that was false did nothing");
    boolean done =
        answered(
            () -> assertTrue(client.compareAndSet(key, value, wanted), "a condition that holds"));
    byte[] now = direct.get(key);
    assertTrue(
        Arrays.equals(now, wanted) || !done && Arrays.equals(now, value),
        "condition: now " + text(now));
  }

  private void iterate(ErdaClient client, String name) {
    Set<String> seen = new HashSet<>();
    try (KeyCursor cursor = client.keys()) {
      while (cursor.next()) {
        String key = new String(cursor.key(), UTF_8);
        assertTrue(seen.add(key), "twice in an iteration: " + key);
        if (key.equals("key")) {
          assertArrayEquals(NEWEST, cursor.value(), "value in an iteration");
        }
      }
    }
    for (int i = 0; i < 10; i++) {
      assertTrue(seen.remove("other " + i), "not in an iteration: other " + i);
    }
    assertTrue(seen.remove("key") && seen.remove("long"), "not in an iteration: key, long");
    assertTrue(seen.remove("conditional-" + name), "not in an iteration: the conditional key");
    if (!undecided.contains("put-" + name)) {
      assertTrue(seen.remove("put-" + name), "not in an iteration: what was put");
    }
    seen.removeAll(undecided);
    assertEquals(Set.of(), seen, "in an iteration");
  }

  private void stats(ErdaClient client) {
    // Figures of a region come and go with it.
    Set<String> known = new HashSet<>(direct.stats().keySet());
    Map<String, Long> figures = client.stats();
    Map<String, Long> directly = direct.stats();
    known.addAll(directly.keySet());
    for (String name : List.of("log.bytes.capacity", "table.buckets", "table.slots")) {
      assertEquals(directly.get(name), figures.get(name), name);
    }
    assertEquals(Set.of(), without(figures.keySet(), known), "figures");
  }

  private static Set<String> without(Set<String> all, Set<String> known) {
    Set<String> rest = new HashSet<>(all);
    rest.removeAll(known);
    rest.removeIf(name -> name.startsWith("requests.answered.") || name.contains(".client."));
    return rest;
  }

  /** Runs a call. Returns whether it was answered, rightly. */
  private boolean answered(Runnable call) {
    try {
      call.run();
      answers++;
      return true;
    } catch (ErdaException e) {
      errors++;
      return false;
    }
  }

  private static String text(byte[] value) {
    return value == null ? "absent" : new String(value, UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
