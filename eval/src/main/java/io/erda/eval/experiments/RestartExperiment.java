package io.erda.eval.experiments;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.ServerChild;
import io.erda.eval.report.Table;
import io.erda.ycsb.Workloads;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;

/**
 * From the start of the server's process to the first served get, after a kill under load, with the
 * store's files cold and warm.
 */
final class RestartExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int YCSB_RECORDS = 2_000;
  private static final long PUTS_BEFORE_KILL_MAX = 2_000_000;
  private static final long TOTAL_NS_MAX = 1_000_000_000L;

  @Override
  public String name() {
    return "restart";
  }

  @Override
  public String what() {
    return "from open to the first served get after kill -9 under load, a million objects, files"
        + " cold and warm; under 1 s";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 20_000 : 1_000_000;
    int rounds = context.quick() ? 1 : 3;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    Path data =
        context.children().temporaryDirectory(context.temporaryDirectory(), "erda-restart-");
    List<String> flags =
        StoreSize.flags(objects + YCSB_RECORDS, objects + PUTS_BEFORE_KILL_MAX, VALUE_BYTES + 64);
    ServerChild server = ServerChild.start(context.children(), context.jvm(), data, flags);
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      dataset.load(client, context.progress());
    }
    PageCache cache = new PageCache(context.children());
    List<Times> cold = new ArrayList<>();
    List<Times> warm = new ArrayList<>();
    for (int round = 0; round < 2 * rounds; round++) {
      boolean evict = round % 2 == 0;
      context.progress().step("kill under load, start with the files " + (evict ? "cold" : "warm"));
      killUnderLoad(context, server, round == 0);
      if (evict) {
        cache.evict(data);
      } else {
        cache.warm(data);
      }
      Started started = start(context, data, dataset, round);
      server = started.server;
      (evict ? cold : warm).add(started.times);
      context.progress().done(Table.time(started.times.totalNs()));
    }
    server.stop();
    return report(cold, warm);
  }

  /** Where the time went. */
  private record Times(long jvmNs, long openNs, long firstGetNs) {
    long totalNs() {
      return jvmNs + openNs + firstGetNs;
    }
  }

  private record Started(ServerChild server, Times times) {}

  private static void killUnderLoad(Context context, ServerChild server, boolean insert)
      throws InterruptedException {
    LoadChild load = LoadChild.start(context.children(), context.jvm(), server.uri());
    Properties properties = Workloads.load("updateonly");
    properties.setProperty("recordcount", Integer.toString(YCSB_RECORDS));
    properties.setProperty("fieldcount", "1");
    properties.setProperty("fieldlength", Integer.toString(VALUE_BYTES));
    if (insert) {
      load.run(LoadPhase.of(true, 1, YCSB_RECORDS, properties), done -> {});
    }
    load.prepare(LoadPhase.of(false, 1, PUTS_BEFORE_KILL_MAX / 8, properties));
    load.go();
    Thread.sleep(300);
    server.kill();
    load.end();
  }

  private static Started start(Context context, Path data, Dataset dataset, int round) {
    MemorySegment into = Arena.ofAuto().allocate(VALUE_BYTES, 8);
    int number = (int) ((round + 1) * 0x9E37_79B9L % dataset.objects());
    MemorySegment key = MemorySegment.ofArray(Dataset.key(number));
    long startNs = System.nanoTime();
    ServerChild server = ServerChild.spawn(context.children(), context.jvm(), data, List.of());
    server.awaitOpening();
    long openingNs = System.nanoTime();
    server.awaitServing();
    long servingNs = System.nanoTime();
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      long length = client.get(key, into);
      long endNs = System.nanoTime();
      if (length != VALUE_BYTES || into.mismatch(dataset.value(number)) >= 0) {
        throw new ProcessException(
            "the first get after the restart returned something else than was put");
      }
      return new Started(
          server, new Times(openingNs - startNs, servingNs - openingNs, endNs - servingNs));
    }
  }

  private static Report report(List<Times> cold, List<Times> warm) {
    Table table =
        new Table(
            "files",
            "total",
            "JVM up",
            "open and recover",
            "connect and first get",
            "slowest total");
    ObjectNode json = new ObjectMapper().createObjectNode();
    List<String> missed = new ArrayList<>();
    add("cold", cold, table, json, missed);
    add("warm", warm, table, json, missed);
    return new Report(table.toString(), json, missed);
  }

  private static void add(
      String name, List<Times> times, Table table, ObjectNode json, List<String> missed) {
    List<Times> sorted = times.stream().sorted(Comparator.comparingLong(Times::totalNs)).toList();
    Times median = sorted.get(sorted.size() / 2);
    long slowest = sorted.getLast().totalNs();
    table.row(
        name,
        Table.time(median.totalNs()),
        Table.time(median.jvmNs()),
        Table.time(median.openNs()),
        Table.time(median.firstGetNs()),
        Table.time(slowest));
    json.putObject(name)
        .put("totalNs", median.totalNs())
        .put("jvmNs", median.jvmNs())
        .put("openNs", median.openNs())
        .put("firstGetNs", median.firstGetNs())
        .put("slowestTotalNs", slowest);
    if (median.totalNs() >= TOTAL_NS_MAX) {
      missed.add(
          "with "
              + name
              + " files it takes "
              + Table.time(median.totalNs())
              + ", expected under 1 s");
    }
  }
}
