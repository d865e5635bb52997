package io.erda.eval.experiments.gets;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
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
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Redis on a Unix socket against Erda over shared memory: one connection each, one operation at a
 * time, the same keys and values, round for round side by side. Redis keeps nothing on disk here,
 * which is the fastest it has.
 *
 * <p>Measured twice. On the machine as it is, cores fall asleep while client and server of Redis
 * wait for each other, and waking them is most of its round trip: what a user of that machine gets.
 * Then with all cores kept awake, which is the best that Redis can do there.
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
    return "Redis on a Unix socket, one connection, no pipelining, 1 KiB; over 30 times its reads,"
        + " over 10 times its updates";
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
    return report(asItIs, awake, floor, benchmark);
  }

  private static Report report(Rounds asItIs, Rounds awake, Floor floor, String benchmark) {
    double reads = readRatio(asItIs);
    double updates = updateRatio(asItIs);
    Table table =
        new Table(
            "operation",
            "machine",
            "Redis ops/s",
            "Erda ops/s",
            "ratio",
            "must be",
            "Erda / floor");
    row(
        table,
        "read",
        "as it is",
        asItIs,
        REDIS_GET,
        ERDA_GET,
        "> 30",
        floor.times(erdaNs(asItIs, ERDA_GET), 0));
    row(
        table,
        "update",
        "as it is",
        asItIs,
        REDIS_SET,
        ERDA_PUT,
        "> 10",
        floor.times(erdaNs(asItIs, ERDA_PUT), 100));
    row(table, "read", "cores awake", awake, REDIS_GET, ERDA_GET, "", "");
    row(table, "update", "cores awake", awake, REDIS_SET, ERDA_PUT, "", "");
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("valueBytes", VALUE_BYTES);
    floor.tell(json);
    json.put("getTimesFloor", erdaNs(asItIs, ERDA_GET) / floor.getNs())
        .put("putTimesFloor", erdaNs(asItIs, ERDA_PUT) / floor.putNs());
    figures(json, asItIs);
    figures(json.putObject("coresAwake"), awake);
    List<String> missed = new ArrayList<>();
    if (reads <= READ_RATIO_MIN) {
      missed.add(
          String.format(
              Locale.ROOT,
              "reads are %.1f times Redis's, expected more than %.0f",
              reads,
              READ_RATIO_MIN));
    }
    if (updates <= UPDATE_RATIO_MIN) {
      missed.add(
          String.format(
              Locale.ROOT,
              "updates are %.1f times Redis's, expected more than %.0f",
              updates,
              UPDATE_RATIO_MIN));
    }
    return Report.of(List.of(table, Floor.words(), new Words(benchmark)), json, missed);
  }

  private static void row(
      Table table,
      String operation,
      String machine,
      Rounds rounds,
      String redis,
      String erda,
      String target,
      String timesFloor) {
    table.row(
        operation,
        machine,
        Numbers.count(rounds.median(redis)),
        Numbers.count(rounds.median(erda)),
        Numbers.decimal(rounds.median(erda) / rounds.median(redis)),
        target,
        timesFloor);
  }

  private static double erdaNs(Rounds rounds, String operation) {
    return 1e9 / rounds.median(operation);
  }

  private static void figures(ObjectNode json, Rounds rounds) {
    for (String name : List.of(REDIS_GET, ERDA_GET, REDIS_SET, ERDA_PUT)) {
      json.put(name.replace(' ', '_') + "_ops_per_second", rounds.median(name));
    }
    json.put("readRatio", readRatio(rounds)).put("updateRatio", updateRatio(rounds));
  }

  private static double readRatio(Rounds rounds) {
    return rounds.median(ERDA_GET) / rounds.median(REDIS_GET);
  }

  private static double updateRatio(Rounds rounds) {
    return rounds.median(ERDA_PUT) / rounds.median(REDIS_SET);
  }

  /** What Redis's own benchmark says of the same server, so that nobody need believe our client. */
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
      // What was measured here stands without it.
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
