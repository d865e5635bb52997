package io.erda.eval.experiments;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment.Context;
import io.erda.eval.baselines.BaselineCalls;
import io.erda.eval.baselines.BaselineChild;
import io.erda.eval.baselines.BaselineKind;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.ServerFigures;
import io.erda.eval.report.Table;
import io.erda.rdma.Poller;
import io.erda.rdma.ShmDevice;
import io.erda.rdma.ShmOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * One of the systems that are compared, served by a process of its own, and a client of it. One
 * thread.
 */
abstract class BaselineSubject implements AutoCloseable {
  private static final long TIMEOUT_NS = 10_000_000_000L;
  private static final long SETTLE_MS = 20;

  private final String name;
  final MemorySegment into;

  BaselineSubject(String name, int valueBytes) {
    this.name = name;
    this.into = Arena.ofAuto().allocate(valueBytes, 8);
  }

  String name() {
    return name;
  }

  /** Gets a value that is there. */
  abstract void get(MemorySegment key);

  abstract void put(MemorySegment key, MemorySegment value);

  abstract CpuTime cpu();

  abstract long nvmBytes();

  @Override
  public abstract void close();

  /** The server has done what it does later, and sleeps. */
  void settle() throws InterruptedException {
    Thread.sleep(SETTLE_MS);
  }

  final void requireLength(long length) {
    if (length != into.byteSize()) {
      throw new ProcessException(name + " returned " + length + " bytes");
    }
  }

  private void load(Context context, Dataset dataset) {
    context.progress().step("load " + name + ": " + Table.count(dataset.objects()) + " objects");
    MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    for (int i = 0; i < dataset.objects(); i++) {
      MemorySegment.copy(Dataset.key(i), 0, key, ValueLayout.JAVA_BYTE, 0, Dataset.KEY_BYTES);
      put(key, dataset.value(i));
    }
    context.progress().done("");
  }

  /**
   * Erda first, then both baselines, loaded.
   *
   * @param counted whether {@link #nvmBytes} is there, which slows stores down
   */
  static List<BaselineSubject> startAll(Context context, Dataset dataset, boolean counted) {
    List<BaselineSubject> all =
        List.of(
            new Erda(context, dataset, counted),
            new Baseline(context, dataset, "Redo Logging", BaselineKind.REDO_LOGGING, counted),
            new Baseline(
                context, dataset, "Read After Write", BaselineKind.READ_AFTER_WRITE, counted));
    all.forEach(subject -> subject.load(context, dataset));
    return all;
  }

  /** Erda as it is created without being told more. */
  private static final class Erda extends BaselineSubject {
    private final ServedStore store;
    private final ErdaClient client;

    Erda(Context context, Dataset dataset, boolean counted) {
      super("Erda", dataset.valueBytes());
      store = ServedStore.create(context, "baselines", counted ? List.of("--counted") : List.of());
      client = store.connect();
    }

    @Override
    void get(MemorySegment key) {
      requireLength(client.get(key, into));
    }

    @Override
    void put(MemorySegment key, MemorySegment value) {
      client.put(key, value);
    }

    @Override
    CpuTime cpu() {
      return store.server().cpu();
    }

    @Override
    long nvmBytes() {
      return ServerFigures.nvmBytes(client.stats());
    }

    @Override
    public void close() {
      client.close();
      store.close();
    }
  }

  private static final class Baseline extends BaselineSubject {
    private final BaselineChild server;
    private final ShmDevice device;
    private final BaselineCalls calls;

    Baseline(Context context, Dataset dataset, String name, BaselineKind kind, boolean counted) {
      super(name, dataset.valueBytes());
      server =
          BaselineChild.start(
              context.children(),
              context.jvm(),
              kind,
              context.newDirectory("baselines"),
              dataset.objects(),
              Dataset.KEY_BYTES + dataset.valueBytes(),
              0,
              counted);
      try {
        device = ShmDevice.open(ShmOptions.toConnect(System::nanoTime));
      } catch (IOException e) {
        throw new ProcessException("can't open a device: " + e.getMessage(), e);
      }
      calls =
          new BaselineCalls(
              kind,
              device,
              server.address(),
              TIMEOUT_NS,
              Poller.DEFAULT_BUDGET_NS,
              System::nanoTime);
    }

    @Override
    void get(MemorySegment key) {
      requireLength(calls.get(key, into));
    }

    @Override
    void put(MemorySegment key, MemorySegment value) {
      calls.put(key, value);
    }

    @Override
    CpuTime cpu() {
      return server.cpu();
    }

    @Override
    long nvmBytes() {
      return server.nvmBytes();
    }

    @Override
    public void close() {
      calls.close();
      device.close();
      server.stop();
    }
  }
}
