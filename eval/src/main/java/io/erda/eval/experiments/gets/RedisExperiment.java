package io.erda.eval.experiments.gets;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.AwakeCores;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.Programs;
import io.erda.eval.redis.RedisBenchmark;
import io.erda.eval.redis.RedisClient;
import io.erda.eval.redis.RedisServer;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Redis on a Unix socket against Erda over shared memory: one connection each, one operation at a
 * time, the same keys and values, in alternating rounds. Redis runs without persistence, which is
 * its fastest mode.
 *
 * <p>Measured twice. First normally, as users would see it: cores sleep while client and server of
 * Redis wait for each other, and waking them is most of its round trip. Then with all cores kept
 * awake, which is the best that Redis can do.
 */
public final class RedisExperiment implements Experiment {
  private static final int OBJECTS = 100_000;
  private static final int VALUE_BYTES = 1024;
  private static final double READ_RATIO_MIN = 30;
  private static final double UPDATE_RATIO_MIN = 10;

  private static final String REDIS_GET = "redis get";
  private static final String ERDA_GET = "erda get";
  private static final String REDIS_SET = "redis set";
  private static final String ERDA_PUT = "erda put";

  @Override
  public String name() {
    return "redis";
  }

  @Override
  public String what() {
    return "Erda does over 30 times the reads and over 10 times the updates of Redis on a Unix"
        + " socket, with one connection, no pipelining and values of 1 KiB";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 5_000 : OBJECTS;
    int rounds = context.quick() ? 3 : 11;
    int redisOperations = context.quick() ? 2_000 : 20_000;
    int gets = redisOperations * 20;
    int puts = redisOperations * 4;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    MemorySegment[] keys = Dataset.keys(dataset.sequence(gets, 7));
    MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES, 8).copyFrom(dataset.value(1));
    MemorySegment into = Arena.ofAuto().allocate(VALUE_BYTES, 8);
    long allPuts = objects + (long) puts * 2 * (rounds + 4);
    List<String> creation = StoreSize.flags(objects, allPuts, VALUE_BYTES + Dataset.KEY_BYTES);
    Rounds asItIs;
    Rounds awake;
    String benchmark;
    try (RedisServer redis = RedisServer.start(context.children(), context.newDirectory(name()));
        ServedStore store = ServedStore.create(context, name(), creation);
        ErdaClient erda = store.connect();
        RedisClient peer = RedisClient.connect(redis.socket(), Dataset.KEY_BYTES, VALUE_BYTES)) {
      dataset.load(erda, context.progress());
      loadRedis(peer, dataset);
      context.progress().step("Redis and Erda side by side");
      Supplier<Rounds> sideBySide =
          () ->
              new Rounds()
                  .measure(REDIS_GET, () -> redisGet(peer, keys, redisOperations, into))
                  .measure(ERDA_GET, () -> erdaGet(erda, keys, gets, into))
                  .measure(REDIS_SET, () -> redisSet(peer, keys, redisOperations, value))
                  .measure(ERDA_PUT, () -> erdaPut(erda, keys, puts, value));
      asItIs = sideBySide.get().run(3, rounds, context.progress());
      context.progress().step("the same with all cores kept awake");
      try (AwakeCores _ = AwakeCores.start(context.children())) {
        awake = sideBySide.get().run(1, rounds, context.progress());
      }
      context.progress().done("");
      benchmark = benchmark(context, redis);
    }
    Floor floor = Floor.of(context, dataset, Dataset.keys(dataset.sequence(1 << 16, 7)));
    Report report = context.report().given("valueBytes", VALUE_BYTES);
    Figures figures = new Figures("operation", "machine");
    tell(report, figures, asItIs, "as it is", READ_RATIO_MIN, UPDATE_RATIO_MIN, floor);
    tell(report, figures, awake, "cores awake", 0, 0, floor);
    report.add(figures);
    return floor.tell(report).words(benchmark);
  }

  private static void tell(
      Report report,
      Figures figures,
      Rounds rounds,
      String machine,
      double readRatioMin,
      double updateRatioMin,
      Floor floor) {
    tell(report, figures, "read", machine, rounds, REDIS_GET, ERDA_GET, readRatioMin, floor, 0);
    tell(
        report,
        figures,
        "update",
        machine,
        rounds,
        REDIS_SET,
        ERDA_PUT,
        updateRatioMin,
        floor,
        100);
  }

  /**
   * @param ratioMin 0 when there is no goal
   */
  private static void tell(
      Report report,
      Figures figures,
      String operation,
      String machine,
      Rounds rounds,
      String redis,
      String erda,
      double ratioMin,
      Floor floor,
      int putPercent) {
    Figure quotient = ratio("Erda / Redis", rounds.median(erda) / rounds.median(redis));
    Figure ratio = ratioMin > 0 ? quotient.over(ratioMin) : quotient;
    report.headline(
        operation
            + "s a second beside Redis on a Unix socket, 1 KiB, one at a time, machine: "
            + machine,
        ratio);
    figures
        .row(operation, machine)
        .add(
            perSecond("Redis", rounds.values(redis)),
            perSecond("Erda", rounds.values(erda)),
            ratio,
            floor.beside(1e9 / rounds.median(erda), putPercent));
  }

  /**
   * The result of Redis's own benchmark with the same server, which confirms that of our client.
   */
  private static String benchmark(Context context, RedisServer redis) {
    Optional<Path> program = Programs.find("redis-benchmark");
    if (program.isEmpty()) {
      return "";
    }
    StringBuilder text =
        new StringBuilder("redis-benchmark -c 1 -P 1 -d 1024 on the same server:\n");
    int requests = context.quick() ? 5_000 : 50_000;
    try {
      RedisBenchmark.run(context.children(), program.get(), redis.socket(), VALUE_BYTES, requests)
          .forEach(line -> text.append("  ").append(line).append('\n'));
    } catch (ProcessException e) {
      // The measurements are valid without the benchmark.
      text.append("  ").append(e.getMessage()).append('\n');
    }
    return text.toString();
  }

  private static void loadRedis(RedisClient peer, Dataset dataset) {
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    for (int i = 0; i < dataset.objects(); i++) {
      key.copyFrom(MemorySegment.ofArray(Dataset.key(i)));
      peer.set(key, dataset.value(i));
    }
  }

  private static double redisGet(
      RedisClient peer, MemorySegment[] keys, int count, MemorySegment into) {
    long startNs = System.nanoTime();
    for (int i = 0; i < count; i++) {
      if (peer.get(keys[i], into) != VALUE_BYTES) {
        throw new ProcessException("Redis did not find a key");
      }
    }
    return rate(count, startNs);
  }

  private static double erdaGet(
      ErdaClient erda, MemorySegment[] keys, int count, MemorySegment into) {
    long startNs = System.nanoTime();
    for (int i = 0; i < count; i++) {
      if (erda.get(keys[i], into) != VALUE_BYTES) {
        throw new ProcessException("Erda did not find a key");
      }
    }
    return rate(count, startNs);
  }

  private static double redisSet(
      RedisClient peer, MemorySegment[] keys, int count, MemorySegment value) {
    long startNs = System.nanoTime();
    for (int i = 0; i < count; i++) {
      peer.set(keys[i], value);
    }
    return rate(count, startNs);
  }

  private static double erdaPut(
      ErdaClient erda, MemorySegment[] keys, int count, MemorySegment value) {
    long startNs = System.nanoTime();
    for (int i = 0; i < count; i++) {
      erda.put(keys[i], value);
    }
    return rate(count, startNs);
  }

  private static double rate(int count, long startNs) {
    return count * 1e9 / (System.nanoTime() - startNs);
  }
}
