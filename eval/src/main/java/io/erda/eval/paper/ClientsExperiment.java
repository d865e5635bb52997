package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.baselines.Counting;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.process.Transport;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/**
 * Throughput and the server's processor time by the number of clients: the paper's figures 18 to
 * 25. Clients, servers and whatever else runs here share the cores of this machine, where the
 * paper's clients have machines of their own.
 */
public final class ClientsExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int[] CLIENTS = {1, 2, 4, 8};

  @Override
  public String name() {
    return "clients";
  }

  @Override
  public String what() {
    return "the paper's figures 18 to 25 over shared memory: throughput and the server's processor"
        + " time with 1 to 8 clients, values of 1 KiB; Erda's gain has the paper's sign";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 10_000 : 100_000;
    int operations = context.quick() ? 20_000 : 200_000;
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 2 : 5;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    Told told = new Told();
    List<ServedScheme> schemes =
        ServedScheme.startAll(context, dataset, Transport.SHM, 0, Counting.NOTHING);
    try {
      for (Workload workload : Workload.values()) {
        List<List<Series>> byClients = new ArrayList<>();
        for (int clients : CLIENTS) {
          context.progress().step(workload.label + ", clients: " + clients);
          byClients.add(
              new SideBySide(context, schemes, dataset, workload, clients, operations, rounds)
                  .run());
          context.progress().done("");
        }
        told.add(workload, byClients);
      }
    } finally {
      ComparedStore.closeAll(schemes);
    }
    return told.report(Floor.of(context, dataset, ZipfianKeys.readAlone(dataset)));
  }

  /** What is told of all workloads. */
  private static final class Told {
    private final Table throughput =
        new Table("op/s", "scheme", "1 client", "2", "4", "8", "Erda, mean", "announcing", "paper");
    private final Table cpu =
        new Table(
            "server CPU/op",
            "scheme",
            "1 client",
            "2",
            "4",
            "8",
            "to Erda's",
            "announcing",
            "paper");
    private final LinePlot throughputPlot =
        new LinePlot("Throughput by clients", "clients", "thousand operations/s").inSteps();
    private final LinePlot cpuPlot =
        new LinePlot("The server's processor time an operation", "clients", "µs").inSteps();
    private final Table floors = new Table("one client", "an operation", "floor", "Erda / floor");
    private final Map<Workload, Double> oneErdaNs = new EnumMap<>(Workload.class);
    private final ObjectNode json = new ObjectMapper().createObjectNode();
    private final List<String> missed = new ArrayList<>();

    void add(Workload workload, List<List<Series>> byClients) {
      throughputPlot.panel(workload.label);
      cpuPlot.panel(workload.label);
      double[] meansPerSecond = new double[Scheme.values().length];
      double[] meansCpuNs = new double[Scheme.values().length];
      for (Scheme scheme : Scheme.values()) {
        double[] perSecond = new double[CLIENTS.length];
        double[] cpuNs = new double[CLIENTS.length];
        double[] clients = new double[CLIENTS.length];
        for (int i = 0; i < CLIENTS.length; i++) {
          Series series = byClients.get(i).get(scheme.ordinal());
          clients[i] = CLIENTS[i];
          perSecond[i] = Rounds.median(series.perSecond);
          cpuNs[i] = Rounds.median(series.cpuNs);
        }
        meansPerSecond[scheme.ordinal()] = mean(perSecond);
        meansCpuNs[scheme.ordinal()] = mean(cpuNs);
        if (scheme == Scheme.ERDA) {
          oneErdaNs.put(workload, 1e9 / perSecond[0]);
        }
        boolean baseline = scheme.isBaseline();
        throughput.row(
            row(
                workload,
                scheme,
                perSecond,
                Numbers::count,
                erda -> meansPerSecond[erda.ordinal()] / meansPerSecond[scheme.ordinal()],
                baseline ? Numbers.decimal(PaperFigures.throughputRatio(workload, scheme)) : ""));
        cpu.row(
            row(
                workload,
                scheme,
                cpuNs,
                Numbers::time,
                erda -> meansCpuNs[scheme.ordinal()] / meansCpuNs[erda.ordinal()],
                baseline ? PaperFigures.text(PaperFigures.cpuRatio(workload, scheme)) : ""));
        throughputPlot.curve(scheme.title, clients, scaled(perSecond));
        cpuPlot.curve(scheme.title, clients, scaled(cpuNs));
        ObjectNode node = json.withObject("/" + workload.label).putObject(scheme.title);
        for (int i = 0; i < CLIENTS.length; i++) {
          node.putObject(CLIENTS[i] + " clients")
              .put("opsPerSecond", perSecond[i])
              .put("serverCpuNsPerOperation", cpuNs[i]);
        }
        double faster = meansPerSecond[Scheme.ERDA.ordinal()] / meansPerSecond[scheme.ordinal()];
        if (baseline && faster < 1 && PaperFigures.throughputRatio(workload, scheme) > 1) {
          missed.add(
              String.format(
                  Locale.ROOT,
                  "%s: Erda is %.2f times as fast as %s, in the paper %.2f",
                  workload.label,
                  faster,
                  scheme.title,
                  PaperFigures.throughputRatio(workload, scheme)));
        }
      }
    }

    Report report(Floor floor) {
      floor.tell(json);
      oneErdaNs.forEach((workload, ns) -> {
        floors.row(
            workload.label,
            Numbers.time(ns),
            Numbers.time(floor.ns(workload.updatePercent)),
            floor.times(ns, workload.updatePercent));
        json.withObject("/" + workload.label)
            .put("timesFloor", ns / floor.ns(workload.updatePercent));
      });
      return Report.of(
          List.of(
              Scheme.promises(),
              new Words(
                  "“Erda, mean” and “announcing” are how many times the row's throughput Erda has,"
                      + " in the mean of all columns, with its own puts and where it announces"
                      + " first. Of the server's processor time “to Erda's” and “announcing” are"
                      + " how many times Erda's the row takes. Clients and servers share this"
                      + " machine's cores ("
                      + Runtime.getRuntime().availableProcessors()
                      + "), so curves are flat from as many clients on."),
              throughput,
              throughputPlot,
              cpu,
              cpuPlot,
              floors,
              Floor.words()),
          json,
          missed);
    }

    /**
     * @param gain of Erda, with its own puts or the paper's, beside the scheme of the row
     */
    private static Object[] row(
        Workload workload,
        Scheme scheme,
        double[] values,
        DoubleFunction<String> written,
        ToDoubleFunction<Scheme> gain,
        String paper) {
      List<Object> row = new ArrayList<>(List.of(workload.label, scheme.title));
      Arrays.stream(values).mapToObj(written).forEach(row::add);
      row.add(scheme == Scheme.ERDA ? "" : times(gain.applyAsDouble(Scheme.ERDA)));
      row.add(scheme.isBaseline() ? times(gain.applyAsDouble(Scheme.ERDA_ANNOUNCING)) : "");
      row.add(paper);
      return row.toArray();
    }

    private static String times(double ratio) {
      return Double.isNaN(ratio) ? "" : PaperFigures.text(ratio) + " times";
    }

    private static double[] scaled(double[] values) {
      return Arrays.stream(values).map(value -> value / 1e3).toArray();
    }

    private static double mean(double[] values) {
      return Arrays.stream(values).average().orElseThrow();
    }
  }
}
