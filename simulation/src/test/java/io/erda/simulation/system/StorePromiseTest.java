package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.protocol.Promise;
import io.erda.simulation.NetworkModel;
import io.erda.simulation.Seeds;
import io.erda.simulation.SimulatedCrash;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * A promise belongs to the store's whole life: servers with and without {@code --promise power} in
 * turn, on ordinary files, where the power fails whenever the store promises to survive that.
 */
final class StorePromiseTest {
  private static final int SEEDS = 80;

  /**
   * Bytes that the previous run left in the page cache are made durable before anything is
   * promised.
   */
  @Test
  void powerBehindARunWithoutIt() {
    Seeds.each(
        SEEDS,
        seed -> {
          OneClient host = new OneClient(Seeds.random(seed), NetworkModel.PAPERS, true);
          putSome(host, seed);
          host.wanted(Promise.POWER);
          host.restart();
          host.put(9);
          host.powerFailure();
          host.requireAcknowledged();
        });
  }

  /** Opening without the option does not allow that earlier acknowledged puts are lost. */
  @Test
  void aStoreThatPromisedPowerGoesOnToDoSo() {
    Seeds.each(
        SEEDS,
        seed -> {
          OneClient host = new OneClient(Seeds.random(seed), NetworkModel.PAPERS, true);
          host.wanted(Promise.POWER);
          host.restart();
          putSome(host, seed);
          host.wanted(null);
          host.restart();
          putSome(host, seed + 1);
          assertEquals(Promise.POWER, host.promise());
          host.powerFailure();
          host.requireAcknowledged();
        });
  }

  /** The promise is given up, and taken again: earlier puts are covered again, too. */
  @Test
  void powerNoPowerPower() {
    Seeds.each(
        SEEDS,
        seed -> {
          OneClient host = new OneClient(Seeds.random(seed), NetworkModel.PAPERS, true);
          host.wanted(Promise.POWER);
          host.restart();
          host.put(1);
          host.wanted(Promise.PROCESS);
          host.restart();
          putSome(host, seed);
          assertEquals(Promise.PROCESS, host.promise());
          host.wanted(null);
          host.processCrash();
          assertEquals(Promise.PROCESS, host.promise());
          host.put(2);
          host.wanted(Promise.POWER);
          host.processCrash();
          host.wanted(null);
          host.powerFailure();
          assertEquals(Promise.POWER, host.promise());
          host.requireAcknowledged();
        });
  }

  /**
   * Every order of runs, some of which crash while they open. Where the promise was power before an
   * opening and is to be power behind it, the power may fail within it, too.
   */
  @Test
  void everyOrderOfRuns() {
    Seeds.each(
        SEEDS,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          OneClient host = new OneClient(random, NetworkModel.PAPERS, true);
          Promise promise = Promise.PROCESS;
          for (int run = 0; run < 8; run++) {
            boolean crashes = random.nextInt(3) == 0;
            boolean before = promise == Promise.POWER;
            Promise wanted =
                new Promise[] {null, Promise.PROCESS, Promise.POWER}[random.nextInt(3)];
            boolean power = wanted == null ? before : wanted == Promise.POWER;
            host.wanted(wanted);
            host.atNextStart(crashes ? random.nextInt(1, 60) : 0);
            try {
              start(host, before, random);
            } catch (SimulatedCrash e) {
              host.wanted(power ? Promise.POWER : Promise.PROCESS);
              host.atNextStart(0);
              start(host, before && power, random);
            }
            promise = power ? Promise.POWER : Promise.PROCESS;
            assertEquals(promise, host.promise());
            for (int i = random.nextInt(6); i > 0; i--) {
              host.put(random.nextInt(8));
            }
            host.requireAcknowledged();
          }
        });
  }

  private static void start(OneClient host, boolean powerMayFail, RandomGenerator random) {
    if (powerMayFail && random.nextBoolean()) {
      host.powerFailure();
    } else {
      host.processCrash();
    }
  }

  private static void putSome(OneClient host, long seed) {
    RandomGenerator random = Seeds.random(seed);
    for (int i = random.nextInt(1, 12); i > 0; i--) {
      host.put(random.nextInt(8));
    }
  }
}
