package io.erda.eval.baselines;

import io.erda.console.Numbers;
import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.Opened;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** A store of one of the compared schemes. */
abstract class ComparedStore implements AutoCloseable {
  private static final long SETTLE_MS = 20;

  final Scheme scheme;
  final int valueBytes;

  ComparedStore(Scheme scheme, int valueBytes) {
    this.scheme = scheme;
    this.valueBytes = valueBytes;
  }

  /** Connects a client, which belongs to one thread. */
  abstract Caller connect();

  /**
   * The processor time so far of the serving process, which also has the clients if the store is
   * embedded.
   */
  abstract CpuTime cpu();

  /**
   * Nanoseconds of the server's thread in steps that had something to do.
   *
   * @throws UnsupportedOperationException when the server does not measure it
   */
  long workNs() {
    throw new UnsupportedOperationException(scheme.title + " does not tell it");
  }

  @Override
  public abstract void close();

  /** Returns when the server has done its deferred work, if it does that by itself. */
  void settle() throws InterruptedException {
    Thread.sleep(SETTLE_MS);
  }

  /** Closes all stores, even if closing one of them throws. */
  static void closeAll(List<? extends ComparedStore> stores) {
    try (Opened opened = new Opened()) {
      stores.forEach(store -> opened.add(store::close));
    }
  }

  final void load(Context context, Dataset dataset) {
    context
        .progress()
        .step(
            "load "
                + scheme.title
                + ": "
                + Numbers.count(dataset.objects())
                + " objects of "
                + Numbers.count(valueBytes)
                + " bytes");
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    try (Caller caller = connect()) {
      for (int i = 0; i < dataset.objects(); i++) {
        MemorySegment.copy(Dataset.key(i), 0, key, ValueLayout.JAVA_BYTE, 0, Dataset.KEY_BYTES);
        caller.put(key, dataset.value(i));
      }
    }
    context.progress().done("");
  }

  /**
   * Opens and loads a store of each scheme, in order. When one fails those before it are closed.
   */
  static <S extends ComparedStore> List<S> openAll(
      Context context, Dataset dataset, List<Scheme> schemes, Function<Scheme, S> open) {
    List<S> all = new ArrayList<>();
    Opened opened = new Opened();
    try {
      for (Scheme scheme : schemes) {
        S store = open.apply(scheme);
        all.add(store);
        opened.add(store::close);
        store.load(context, dataset);
      }
    } catch (RuntimeException | Error e) {
      opened.closeAfter(e);
      throw e;
    }
    return all;
  }
}
