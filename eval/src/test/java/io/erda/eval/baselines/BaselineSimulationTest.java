package io.erda.eval.baselines;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.simulation.NetworkModel;
import io.erda.simulation.PersistenceDomain;
import io.erda.simulation.system.Configuration;
import io.erda.simulation.system.Fault;
import io.erda.simulation.system.OperationMix;
import io.erda.simulation.system.RunResult;
import io.erda.simulation.system.SystemSimulation;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Both baselines in simulated time, under the faults with which Erda is tested: servers and clients
 * that die anywhere, power failures, connections that are lost in the middle of a WRITE. Their
 * histories must be linearizable.
 */
class BaselineSimulationTest {
  private static final int RUNS = Integer.getInteger("erda.baseline.runs", 60);

  /** The faults without those of Erda's own files, promises and inspections. */
  private static final Set<Fault> FAULTS =
      EnumSet.of(
          Fault.SERVER_CRASH,
          Fault.SERVER_CRASH_IN_STORE,
          Fault.SERVER_CRASH_IN_RECOVERY,
          Fault.POWER_FAILURE,
          Fault.KEYS_LOST,
          Fault.SERVER_PAUSE,
          Fault.CLIENT_CRASH,
          Fault.CLIENT_CRASH_IN_POST,
          Fault.CLIENT_PAUSE,
          Fault.CLIENT_SLOW,
          Fault.CLIENT_CLOSE,
          Fault.STORE_OF_THE_LEFT,
          Fault.EMBEDDED_OPENING,
          Fault.HANDLER_SUBMITS,
          Fault.COMPLETIONS_DELAYED,
          Fault.CONNECTION_LOSS);

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void everyHistoryIsLinearizable(BaselineKind kind) {
    boolean again = Long.getLong("erda.seed") != null;
    long first = again ? Long.getLong("erda.seed") : new Random().nextLong();
    Map<Fault, Long> faults = new EnumMap<>(Fault.class);
    long operations = 0;
    for (long seed = first; seed < first + (again ? 1 : RUNS); seed++) {
      RunResult result = run(kind, seed);
      result.faults().forEach((fault, count) -> faults.merge(fault, count, Long::sum));
      operations += result.ok();
      assertNull(
          result.failure(), result.failure() + "\n" + result.history() + "\n-Derda.seed=" + seed);
    }
    assertTrue(again || faults.containsKey(Fault.POWER_FAILURE), "no power failure");
    assertTrue(again || operations > RUNS, "nothing was done");
  }

  private static RunResult run(BaselineKind kind, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    BaselineGeometry geometry =
        new BaselineGeometry(64, 1 << random.nextInt(14, 17), 1 << 19, 1 << 12);
    long lag = random.nextBoolean() ? 0 : geometry.logBytes() / 2;
    Configuration configuration = configuration(random);
    return new SystemSimulation(
            seed,
            configuration,
            new BaselineUnderTest(kind, geometry, lag, !configuration.network().ddio()),
            UnaryOperator.identity(),
            UnaryOperator.identity())
        .withoutWordRules()
        .run();
  }

  private static Configuration configuration(SplittableRandom random) {
    Configuration any = Configuration.random(random.split());
    PersistenceDomain[] domains = PersistenceDomain.values();
    int clients = random.nextInt(1, 7);
    NetworkModel network =
        random.nextInt(4) == 0 ? NetworkModel.PAPERS : NetworkModel.random(random);
    return new Configuration(
        random.nextBoolean()
            ? PersistenceDomain.MEMORY_CONTROLLER
            : domains[random.nextInt(domains.length)],
        // A put of READ_AFTER_WRITE is acknowledged by a READ, so READs must end with the server:
        // where they went on, a put was lost (seed 492763420704606443).
        (random.nextInt(3) == 0 ? network.slowPieces() : network).withReadsOutlivePeer(false),
        any.store(),
        0,
        false,
        any.service(),
        any.client(),
        clients,
        random.nextBoolean() ? 0 : 50,
        random.nextInt(1, 9),
        false,
        random.nextBoolean() ? 8 : random.nextInt(1, 200),
        1 << random.nextInt(4, 11),
        random.nextInt(60, 1000),
        1,
        new OperationMix(random.nextInt(20, 70), random.nextInt(0, 25), 0, 0),
        1L << random.nextInt(15, 22),
        1L << random.nextInt(6, 11),
        1L << random.nextInt(15, 19),
        1L << 12,
        8,
        4,
        false,
        FAULTS);
  }
}
