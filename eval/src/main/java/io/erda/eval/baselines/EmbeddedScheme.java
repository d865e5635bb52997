package io.erda.eval.baselines;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.ProcessException;
import io.erda.server.ErdaStore;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** A store of one of the compared schemes, in this process. One thread at a time. */
abstract class EmbeddedScheme extends ComparedStore {
  private EmbeddedScheme(Scheme scheme, int valueBytes) {
    super(scheme, valueBytes);
  }

  @Override
  final CpuTime cpu() {
    return CpuTime.of(ProcessHandle.current().pid());
  }

  /** Opens and loads all of them, in the order of {@link Scheme}. */
  static List<EmbeddedScheme> openAll(Context context, Dataset dataset) {
    return openAll(
        context,
        dataset,
        List.of(Scheme.values()),
        scheme ->
            scheme.isBaseline()
                ? new Baseline(context, scheme, dataset)
                : new Erda(context, scheme, dataset.valueBytes()));
  }

  /** Erda with default options apart from the put mode. */
  private static final class Erda extends EmbeddedScheme {
    private static final long CLEANING_NS_MAX = 5_000_000_000L;
    private static final Duration FIGURES_TIMEOUT = Duration.ofSeconds(10);

    private final ErdaStore store;

    Erda(Context context, Scheme scheme, int valueBytes) {
      super(scheme, valueBytes);
      store =
          ErdaStore.open(
              context.newDirectory("paper"), ServerOptions.DEFAULTS.withPutMode(scheme.puts()));
    }

    /** Cleaning is done by the server's thread, and would take a core from the next measurement. */
    @Override
    void settle() throws InterruptedException {
      super.settle();
      long untilNs = System.nanoTime() + CLEANING_NS_MAX;
      while (store.figures(FIGURES_TIMEOUT).get("cleaner.phase") != 0
          && System.nanoTime() - untilNs < 0) {
        super.settle();
      }
    }

    @Override
    Caller connect() {
      return new ErdaCaller(store.client(), valueBytes);
    }

    @Override
    public void close() {
      store.close();
    }
  }

  private static final class Baseline extends EmbeddedScheme {
    private final EmbeddedBaseline store;

    Baseline(Context context, Scheme scheme, Dataset dataset) {
      super(scheme, dataset.valueBytes());
      try {
        store =
            new EmbeddedBaseline(
                scheme.baseline(),
                context.newDirectory("paper"),
                dataset.objects(),
                Dataset.KEY_BYTES + valueBytes);
      } catch (IOException e) {
        throw new ProcessException(scheme.title + ": " + e.getMessage(), e);
      }
    }

    @Override
    Caller connect() {
      return new BaselineCaller(store.clientDevice(), store::calls, valueBytes);
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
