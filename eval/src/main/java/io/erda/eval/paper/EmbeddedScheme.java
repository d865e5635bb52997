package io.erda.eval.paper;

import io.erda.eval.Experiment.Context;
import io.erda.eval.baselines.EmbeddedBaseline;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.ProcessException;
import io.erda.server.ErdaStore;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.util.List;

/** A store of one of the schemes that are compared, in this process. One thread calls it. */
abstract class EmbeddedScheme extends ComparedStore {
  private EmbeddedScheme(Scheme scheme, int valueBytes) {
    super(scheme, valueBytes);
  }

  @Override
  final CpuTime cpu() {
    return CpuTime.of(ProcessHandle.current().pid());
  }

  /** All of them, in the order of {@link Scheme}, loaded. */
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

  /** Erda as it is created without being told more than how it puts. */
  private static final class Erda extends EmbeddedScheme {
    private final ErdaStore store;

    Erda(Context context, Scheme scheme, int valueBytes) {
      super(scheme, valueBytes);
      store =
          ErdaStore.open(
              context.newDirectory("paper"), ServerOptions.DEFAULTS.withPutMode(scheme.puts()));
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
