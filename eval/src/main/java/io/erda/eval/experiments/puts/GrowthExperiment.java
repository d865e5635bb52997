package io.erda.eval.experiments.puts;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.number;

import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.Progress;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.load.StoreSize;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.StatsFigures;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Puts millions of small objects into a store that was made for a thousand: nothing is refused, and
 * a concurrent reader pauses no longer than a thread that only reads the clock.
 */
public final class GrowthExperiment implements Experiment {
  private static final int VALUE_BYTES = 16;
  private static final int BUCKETS = 1024;
  private static final long EXCESS_NS_MAX = 50_000_000L;

  @Override
  public String name() {
    return "growth";
  }

  @Override
  public String what() {
    return "a table of 1024 buckets takes 5 million objects without an error, and no reader pauses"
        + " more than 50 ms beyond a thread that only looks at the clock";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 200_000 : 5_000_000;
    try (ServedStore store = ServedStore.create(context, name(), flags(objects))) {
      Loaded loaded = new Loaded();
      Histogram puts;
      Watched reader;
      Watched bystander;
      Map<String, Long> figures;
      try (ErdaClient client = store.connect();
          Watch reading = new Watch("growth-reader", watch -> read(store, loaded, watch));
          Watch looking = new Watch("growth-bystander", GrowthExperiment::look)) {
        puts = load(client, objects, loaded, context.progress());
        reader = reading.end();
        bystander = looking.end();
        figures = client.stats();
      }
      check(store, objects, context.progress());
      return context.report().add(told(objects, puts, reader, bystander, figures));
    }
  }

  private static List<String> flags(int objects) {
    List<String> flags =
        new ArrayList<>(StoreSize.flags(objects, objects, Dataset.KEY_BYTES + VALUE_BYTES));
    flags.set(flags.indexOf("--buckets") + 1, Integer.toString(BUCKETS));
    return flags;
  }

  /** The number of objects that are certainly there. */
  private static final class Loaded {
    volatile int count;
  }

  private static Histogram load(ErdaClient client, int objects, Loaded loaded, Progress progress) {
    progress.step("load " + Numbers.count(objects) + " objects while they are read");
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    Histogram puts = new Histogram(100_000_000_000L, 3);
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    for (int i = 0; i < objects; i++) {
      setKey(key, i);
      MemorySegment value = dataset.value(i);
      long startNs = System.nanoTime();
      client.put(key, value);
      puts.recordValue(System.nanoTime() - startNs);
      loaded.count = i + 1;
      if ((i & 0x3FFF) == 0) {
        progress.at(i * 100L / objects + "%");
      }
    }
    progress.done("");
    return puts;
  }

  private static void setKey(MemorySegment key, long number) {
    MemorySegment.copy(Dataset.key(number), 0, key, ValueLayout.JAVA_BYTE, 0, Dataset.KEY_BYTES);
  }

  /** Gets every object once, when the store has come to rest. */
  private static void check(ServedStore store, int objects, Progress progress) {
    progress.step("read them all");
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    MemorySegment into = Arena.ofAuto().allocate(VALUE_BYTES, 8);
    try (ErdaClient client = store.connect()) {
      for (int i = 0; i < objects; i++) {
        setKey(key, i);
        requireValue(client.get(key, into), into, dataset, i);
      }
    }
    progress.done("");
  }

  private static void requireValue(long length, MemorySegment into, Dataset dataset, int number) {
    if (length != VALUE_BYTES || into.mismatch(dataset.value(number)) >= 0) {
      throw new ProcessException(
          "object "
              + number
              + (length < 0 ? " is absent" : " has another value than was put")
              + ", and its put was acknowledged");
    }
  }

  private static void read(ServedStore store, Loaded loaded, Watch watch) {
    Dataset dataset = new Dataset(1, VALUE_BYTES);
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    MemorySegment into = Arena.ofAuto().allocate(VALUE_BYTES, 8);
    SplittableRandom random = new SplittableRandom(1);
    try (ErdaClient client = store.connect()) {
      while (!watch.ending) {
        int count = loaded.count;
        if (count > 0) {
          int number = random.nextInt(count);
          setKey(key, number);
          requireValue(client.get(key, into), into, dataset, number);
        }
        watch.tick();
      }
    }
  }

  private static void look(Watch watch) {
    while (!watch.ending) {
      watch.tick();
    }
  }

  /**
   * The result of a watching thread.
   *
   * @param worstNs longest time between two ticks
   */
  private record Watched(long ticks, long worstNs) {}

  /** A thread that repeats some work, and notes the longest time between two ticks. */
  private static final class Watch implements AutoCloseable {
    private final Thread thread;
    volatile boolean ending;
    private long lastNs;
    private long ticks;
    private long worstNs;
    private RuntimeException failure;

    /** Closing tells the thread to end; {@link #end} waits for it. */
    Watch(String name, Consumer<Watch> work) {
      thread =
          new Thread(
              () -> {
                try {
                  work.accept(this);
                } catch (RuntimeException e) {
                  failure = e;
                }
              },
              name);
      thread.start();
    }

    void tick() {
      long nowNs = System.nanoTime();
      if (ticks++ > 0) {
        worstNs = Math.max(worstNs, nowNs - lastNs);
      }
      lastNs = nowNs;
    }

    /** Ends the thread. */
    Watched end() throws InterruptedException {
      ending = true;
      thread.join();
      if (failure != null) {
        throw failure;
      }
      return new Watched(ticks, worstNs);
    }

    @Override
    public void close() {
      ending = true;
    }
  }

  private static Figures told(
      int objects, Histogram puts, Watched reader, Watched bystander, Map<String, Long> figures) {
    return Figures.list("growth")
        .add(
            count("objects", objects),
            count("doublings of the table", StatsFigures.figure(figures, "table.doublings")),
            count("buckets at the end", StatsFigures.figure(figures, "table.buckets"))
                .atLeast(objects)
                .atAnySize(),
            count("reads meanwhile", reader.ticks),
            ns("longest pause of the reader", reader.worstNs),
            ns("longest pause of a thread that only looks at the clock", bystander.worstNs),
            ns("what the reader paused longer", reader.worstNs - bystander.worstNs)
                .atMost(EXCESS_NS_MAX),
            ns("put, p50", puts.getValueAtPercentile(50)),
            ns("put, p99.9", puts.getValueAtPercentile(99.9)),
            ns("put, longest", puts.getMaxValue()));
  }
}
