package io.erda.simulation.system;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.server.engine.ServerLimits;
import io.erda.server.engine.StoreOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * One run: what there is, what is asked of it, and what goes wrong.
 *
 * @param domain of the server's memory; power fails only where the store promises to survive it
 * @param clients at a time
 * @param keys that all of them use
 * @param keyBytesMax and {@code valueBytesMax} longest
 * @param operations until no more are begun
 * @param pipeline operations of a client in flight at most
 * @param putWeight of gets, puts and deletes; the others are {@code deleteWeight} and the rest of
 *     100
 * @param faultGapNs between two faults, about; 0 = none
 * @param stepNs of a node with work
 * @param idleNs of a node without
 */
public record Configuration(
    PersistenceDomain domain,
    NetworkModel network,
    StoreOptions store,
    ServerLimits limits,
    ClientOptions client,
    int clients,
    int keys,
    int keyBytesMax,
    int valueBytesMax,
    int operations,
    int pipeline,
    int putWeight,
    int deleteWeight,
    long faultGapNs,
    long stepNs,
    long idleNs) {
  private static final int KEY_OPERATIONS_MAX = 10;

  /** Draws one. */
  public static Configuration random(RandomGenerator random) {
    PersistenceDomain[] domains = PersistenceDomain.values();
    int clients = random.nextInt(1, 7);
    // Few keys meet each other, many keep a log full of what is live.
    int keys = random.nextBoolean() ? random.nextInt(1, 9) : random.nextInt(9, 65);
    // No more operations of one key open at once than the checker decides with ease.
    int pipeline = Math.clamp(KEY_OPERATIONS_MAX * keys / clients, 1, random.nextInt(1, 5));
    int segmentBytes = 1 << random.nextInt(12, 15);
    int heads = 1 << random.nextInt(3);
    // Small enough that most runs overwrite their log more than once.
    int regionsMax = heads + random.nextInt(1, 6);
    return new Configuration(
        domains[random.nextInt(domains.length)],
        random.nextInt(4) == 0 ? NetworkModel.PAPERS : NetworkModel.random(random),
        new StoreOptions(
            new LogGeometry(heads, 1L << random.nextInt(16, 18), segmentBytes, regionsMax),
            1L << random.nextInt(4, 9)),
        new ServerLimits(
            random.nextInt(8, 40),
            1L << random.nextInt(18, 27),
            1 << random.nextInt(10, 14),
            50_000,
            random.nextInt(8) == 0
                ? CleanerOptions.NEVER
                : new CleanerOptions(
                    random.nextInt(1, 9),
                    1L << random.nextInt(10, 23),
                    1L << random.nextInt(10, 26),
                    1L << random.nextInt(20, 27))),
        new ClientOptions(
            Duration.ofMillis(50),
            Duration.ofMillis(200),
            null,
            0,
            64 << random.nextInt(5),
            pipeline),
        clients,
        keys,
        random.nextBoolean() ? 8 : random.nextInt(1, 200),
        random.nextInt(3) == 0 ? 1 << random.nextInt(4, 12) : random.nextInt(256, 3000),
        1 << random.nextInt(5, 13),
        pipeline,
        random.nextInt(10, 70),
        random.nextInt(0, 25),
        random.nextInt(8) == 0 ? 0 : 1L << random.nextInt(14, 23),
        1L << random.nextInt(6, 11),
        1L << random.nextInt(15, 19));
  }
}
