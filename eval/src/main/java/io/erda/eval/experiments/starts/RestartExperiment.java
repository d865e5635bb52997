package io.erda.eval.experiments.starts;

import static io.erda.eval.report.Figure.ns;

import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.process.PageCache;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * From the start of the server's process to the first served get, after a kill under load, with the
 * store's files cold and warm.
 */
public final class RestartExperiment implements Experiment {
  private static final int VALUE_BYTES = YcsbStore.VALUE_BYTES;
  private static final int YCSB_RECORDS = 2_000;
  private static final long PUTS_BEFORE_KILL_MAX = 2_000_000;
  private static final long TOTAL_NS_MAX = 1_000_000_000L;

  @Override
  public String name() {
    return "restart";
  }

  @Override
  public String what() {
    return "a store of a million objects serves its first get in under 1 s after it is opened, with"
        + " cold files and with warm ones, when its server was killed under load by -9";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 20_000 : 1_000_000;
    int rounds = context.quick() ? 1 : 3;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    List<String> creation =
        StoreSize.flags(objects + YCSB_RECORDS, objects + PUTS_BEFORE_KILL_MAX, VALUE_BYTES + 64);
    List<RestartTimes> cold = new ArrayList<>();
    List<RestartTimes> warm = new ArrayList<>();
    try (ServedStore store = ServedStore.create(context, name(), creation)) {
      store.load(dataset);
      PageCache cache = new PageCache(context.children());
      for (int round = 0; round < 2 * rounds; round++) {
        boolean evict = round % 2 == 0;
        context
            .progress()
            .step("kill under load, start with the files " + (evict ? "cold" : "warm"));
        killUnderLoad(store, round == 0);
        if (evict) {
          cache.evict(store.data());
        } else {
          cache.warm(store.data());
        }
        RestartTimes times = RestartTimes.measure(store, dataset, round);
        (evict ? cold : warm).add(times);
        context.progress().done(Numbers.time(times.totalNs()));
      }
    }
    Figures figures = new Figures("files");
    tell(figures.row("cold"), cold);
    tell(figures.row("warm"), warm);
    return context.report().add(figures);
  }

  private static void killUnderLoad(ServedStore store, boolean insert) throws InterruptedException {
    LoadChild load = store.newLoad();
    Properties properties = YcsbStore.properties("updateonly", YCSB_RECORDS);
    if (insert) {
      load.run(LoadPhase.of(true, 1, YCSB_RECORDS, properties), done -> {});
    }
    load.prepare(LoadPhase.of(false, 1, PUTS_BEFORE_KILL_MAX / 8, properties));
    load.go();
    Thread.sleep(300);
    store.server().kill();
    load.end();
  }

  private static void tell(Figures.Row row, List<RestartTimes> times) {
    RestartTimes median = RestartTimes.median(times);
    row.add(
        ns("total", times.stream().mapToDouble(RestartTimes::totalNs).toArray())
            .under(TOTAL_NS_MAX),
        ns("JVM up", median.jvmNs()),
        ns("open and recover", median.openNs()),
        ns("connect and first get", median.firstGetNs()));
  }
}
