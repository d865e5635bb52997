package io.erda.simulation.mutants;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.ClientOptions;
import io.erda.logstore.LogGeometry;
import io.erda.server.engine.ServerLimits;
import io.erda.server.engine.StoreOptions;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.system.Configuration;
import io.erda.simulation.system.Fault;
import io.erda.simulation.system.SystemSimulation;
import java.time.Duration;
import java.util.EnumSet;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * What a seed comes to where servers are killed over their clients, another process opens the store
 * for itself now and then, and regions are cleaned and used again all the time. As {@link
 * PatchedSeed}, lives in a {@link PatchedLoader}.
 */
public final class LeftBehindSeed implements LongFunction<String> {
  @Override
  public String apply(long seed) {
    return SystemSimulation.of(seed, configuration(seed)).run().failure();
  }

  private static Configuration configuration(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return new Configuration(
        PersistenceDomain.WHOLE_SYSTEM,
        NetworkModel.random(random).slowPieces().withReadsOutlivePeer(true),
        new StoreOptions(new LogGeometry(1, 1 << 16, 1 << 13, 6), 64),
        0,
        false,
        new ServerLimits(
            40, 1 << 18, 1 << 13, 50_000, new CleanerOptions(4, 1 << 10, 1 << 26, 1 << 26)),
        new ClientOptions(Duration.ofMillis(50), Duration.ofMillis(400), null, 0, 1024, 2),
        4,
        0,
        12,
        false,
        16,
        3000,
        3000,
        2,
        60,
        5,
        1 << 21,
        256,
        1 << 15,
        1 << 10,
        EnumSet.of(Fault.SERVER_CRASH, Fault.EMBEDDED_OPENING, Fault.STORE_OF_THE_LEFT));
  }
}
