package io.erda.eval.experiments.cleaning;

import static io.erda.eval.report.Figure.bytes;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.StatsFigures;
import io.erda.logstore.ObjectLayout;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The space of a store that is overwritten, with default options: the size of the files follows
 * their live bytes, and puts do not get slower.
 */
public final class FootprintExperiment implements Experiment {
  private static final int OBJECTS = 100_000;
  private static final int VALUE_BYTES = 1024;

  /** The files may take this many times the live bytes, and a number of regions more. */
  private static final int TIMES_LIVE_MAX = 3;

  private static final int REGIONS_BEYOND_MAX = 2;

  private static final int MINUTES = 5;
  private static final long MINUTE_NS = 60_000_000_000L;
  private static final long QUICK_MINUTE_NS = 2_000_000_000L;

  /** The interval of measuring files and rate. */
  private static final long SLICE_NS = 100_000_000L;

  private static final int PUTS_PER_LOOK_AT_THE_CLOCK = 32;

  @Override
  public String name() {
    return "footprint";
  }

  @Override
  public String what() {
    return "100,000 objects of 1 KiB that are overwritten for 5 minutes, with default options, take"
        + " files of at most 3 times the live bytes and 2 regions, and the last minute is as quick"
        + " as the first";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    long minuteNs = context.quick() ? QUICK_MINUTE_NS : MINUTE_NS;
    Dataset dataset = new Dataset(OBJECTS, VALUE_BYTES);
    MemorySegment[] keys = Dataset.keys(dataset.sequence(1 << 18, 5));
    Course course = new Course(minuteNs);
    Map<String, Long> figures;
    try (ServedStore store = ServedStore.create(context, name(), List.of());
        ErdaClient client = store.connect()) {
      dataset.load(client, context.progress());
      context.progress().step("overwrite");
      overwrite(client, keys, dataset.value(1), store.data(), course, context);
      context.progress().done("");
      figures = client.stats();
    } catch (IOException e) {
      throw new ProcessException("footprint: " + e.getMessage(), e);
    }
    return tell(context.report(), course, figures);
  }

  private static void overwrite(
      ErdaClient client,
      MemorySegment[] keys,
      MemorySegment bytes,
      Path data,
      Course course,
      Context context)
      throws IOException {
    MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES, 8).copyFrom(bytes);
    long startNs = System.nanoTime();
    long endNs = startNs + MINUTES * course.minuteNs;
    int next = 0;
    for (long nowNs = startNs; nowNs < endNs; ) {
      long sliceNs = nowNs;
      long puts = 0;
      while (nowNs - sliceNs < SLICE_NS) {
        for (int i = 0; i < PUTS_PER_LOOK_AT_THE_CLOCK; i++) {
          client.put(keys[next++ & keys.length - 1], value);
        }
        puts += PUTS_PER_LOOK_AT_THE_CLOCK;
        nowNs = System.nanoTime();
      }
      course.add(nowNs - startNs, puts * 1e9 / (nowNs - sliceNs), LogFileSizes.bytes(data));
      context.progress().at((nowNs - startNs) * 100 / (MINUTES * course.minuteNs) + "%");
    }
  }

  /** The measurements, by slice. */
  private static final class Course {
    private final long minuteNs;
    private final List<Slice> slices = new ArrayList<>();

    private record Slice(long ns, double putsPerSecond, long fileBytes) {}

    Course(long minuteNs) {
      this.minuteNs = minuteNs;
    }

    void add(long ns, double putsPerSecond, long fileBytes) {
      slices.add(new Slice(ns, putsPerSecond, fileBytes));
    }

    /** Puts a second in a minute; the first one is 0. */
    double rate(int minute) {
      return slices.stream()
          .filter(slice -> slice.ns / minuteNs == minute)
          .mapToDouble(Slice::putsPerSecond)
          .average()
          .orElseThrow(() -> new ProcessException("no slice ended in minute " + (minute + 1)));
    }

    long fileBytesMax() {
      return slices.stream().mapToLong(Slice::fileBytes).max().orElse(0);
    }

    double[] seconds() {
      return slices.stream().mapToDouble(slice -> slice.ns / 1e9).toArray();
    }

    double[] thousandPuts() {
      return slices.stream().mapToDouble(slice -> slice.putsPerSecond / 1e3).toArray();
    }

    double[] fileMebibytes() {
      return slices.stream().mapToDouble(slice -> slice.fileBytes / 1048576.0).toArray();
    }
  }

  private static long liveBytes() {
    return (long) OBJECTS * ObjectLayout.padded(ObjectLayout.bytes(Dataset.KEY_BYTES, VALUE_BYTES));
  }

  private static long fileBytesAllowed() {
    return TIMES_LIVE_MAX * liveBytes() + REGIONS_BEYOND_MAX * ServerOptions.DEFAULTS.regionBytes();
  }

  private static Report tell(Report report, Course course, Map<String, Long> figures) {
    double first = course.rate(0);
    double copied = StatsFigures.figure(figures, "cleaner.bytes.copied");
    return report
        .add(
            Figures.list("footprint")
                .add(
                    bytes("live objects", liveBytes()),
                    bytes("files at most", course.fileBytesMax())
                        .atMost(fileBytesAllowed())
                        .atAnySize(),
                    perSecond("puts, first minute", first),
                    perSecond("puts, last minute", course.rate(MINUTES - 1)).atLeast(first),
                    number(
                        "copied per byte put",
                        copied / StatsFigures.figure(figures, "objects.bytes.published"))))
        .given(
            "putsPerSecondByMinute",
            IntStream.range(0, MINUTES).mapToDouble(course::rate).toArray())
        .add(plot(course));
  }

  private static LinePlot plot(Course course) {
    return new LinePlot("A store that is overwritten", "seconds", "thousand puts/s, MiB")
        .panel("")
        .curve("thousand puts/s", course.seconds(), course.thousandPuts())
        .curve("files, MiB", course.seconds(), course.fileMebibytes());
  }
}
