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
 * What a seed comes to where regions are cleaned and used again all the time, and what a client has
 * begun to store lands whatever becomes of it. As {@link PatchedSeed}, lives in a {@link
 * PatchedLoader}.
 */
public final class ReusedRegionsSeed implements LongFunction<String> {
  private final int operations;
  private final long faultGapNs;
  private final EnumSet<Fault> faults;

  /**
   * @param operations until no more are begun
   * @param faultGapNs between two faults, about
   * @param faults names of those that may happen
   */
  public ReusedRegionsSeed(int operations, long faultGapNs, String... faults) {
    this.operations = operations;
    this.faultGapNs = faultGapNs;
    this.faults = EnumSet.noneOf(Fault.class);
    for (String fault : faults) {
      this.faults.add(Fault.valueOf(fault));
    }
  }

  @Override
  public String apply(long seed) {
    return SystemSimulation.of(seed, configuration(seed)).run().failure();
  }

  private Configuration configuration(long seed) {
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
        operations,
        2,
        60,
        5,
        faultGapNs,
        256,
        1 << 15,
        1 << 10,
        faults);
  }
}
