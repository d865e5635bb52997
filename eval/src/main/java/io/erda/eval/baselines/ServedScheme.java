package io.erda.eval.baselines;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.CpuTime;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.report.StatsFigures;
import java.util.ArrayList;
import java.util.List;

/** A store of one of the compared schemes, served by its own process. */
abstract class ServedScheme extends ComparedStore {
  final DeviceChoice transport;

  private ServedScheme(Scheme scheme, DeviceChoice transport, int valueBytes) {
    super(scheme, valueBytes);
    this.transport = transport;
  }

  /** The address for clients. */
  abstract String address();

  @Override
  final Caller connect() {
    return scheme.connect(transport, address(), valueBytes);
  }

  /** The server's process. */
  abstract long pid();

  /** The name of that process's serving thread. */
  abstract String serverThread();

  /** Bytes that server and clients have stored so far. */
  abstract long nvmBytes();

  /**
   * Starts and loads all of them, in the order of {@link Scheme}.
   *
   * @param transport of their clients
   * @param room for this many objects besides those that are loaded
   * @param counting whether {@link #nvmBytes} or {@link #workNs} is available
   */
  static List<ServedScheme> startAll(
      Context context, Dataset dataset, DeviceChoice transport, long room, Counting counting) {
    return openAll(
        context,
        dataset,
        List.of(Scheme.values()),
        scheme ->
            scheme.isBaseline()
                ? new Baseline(
                    context,
                    scheme,
                    dataset.objects() + room,
                    dataset.valueBytes(),
                    transport,
                    counting)
                : new Erda(context, scheme, dataset.valueBytes(), transport, counting));
  }

  /** Erda with default options apart from the put mode. */
  private static final class Erda extends ServedScheme {
    private final ServedStore store;

    /** The client that asks for figures; null until the first time. */
    private ErdaClient teller;

    Erda(
        Context context, Scheme scheme, int valueBytes, DeviceChoice transport, Counting counting) {
      super(scheme, transport, valueBytes);
      List<String> options = new ArrayList<>(transport.serverOptions());
      options.addAll(ServedStore.putting(scheme.puts()));
      switch (counting) {
        case NOTHING -> {}
        case BYTES -> options.add("--counted");
        case WORK -> options.add("--timed");
      }
      store = ServedStore.create(context, "paper", options);
    }

    @Override
    String address() {
      return store.server().uri();
    }

    @Override
    long pid() {
      return store.server().pid();
    }

    @Override
    String serverThread() {
      return "erda-server";
    }

    @Override
    CpuTime cpu() {
      return store.server().cpu();
    }

    @Override
    long nvmBytes() {
      try (ErdaClient client = store.connect()) {
        return StatsFigures.nvmBytes(client.stats());
      }
    }

    /** Always uses the same client, because connecting and leaving is work, too. */
    @Override
    long workNs() {
      teller = teller == null ? store.connect() : teller;
      return teller.stats().get("server.work.ns");
    }

    @Override
    public void close() {
      if (teller != null) {
        teller.close();
      }
      store.close();
    }
  }

  private static final class Baseline extends ServedScheme {
    private final BaselineChild server;

    Baseline(
        Context context,
        Scheme scheme,
        long objects,
        int valueBytes,
        DeviceChoice transport,
        Counting counting) {
      super(scheme, transport, valueBytes);
      server =
          BaselineChild.start(
              context.children(),
              context.jvm(),
              scheme.baseline(),
              context.newDirectory("paper"),
              transport,
              objects,
              Dataset.KEY_BYTES + valueBytes,
              0,
              counting);
    }

    @Override
    String address() {
      return server.address();
    }

    @Override
    long pid() {
      return server.pid();
    }

    @Override
    String serverThread() {
      return "main";
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
    long workNs() {
      return server.workNs();
    }

    @Override
    public void close() {
      server.stop();
    }
  }
}
