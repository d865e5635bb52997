package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Report;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The paper's figures 14 to 25 in virtual time, with the paper's network and memory, and more
 * clients than this machine has cores.
 */
public final class SimulatedExperiment implements Experiment {
  private static final int[] SIZES = {16, 64, 256, 1024, 4096};
  private static final int[] CLIENTS = {1, 2, 4, 8, 16, 32, 64};
  private static final int VALUE_BYTES = 1024;

  /** Nearer to each other counts as equal: so the paper says of updates. */
  private static final double EQUAL = 0.1;

  private static final String MODEL =
      String.format(
          Locale.ROOT,
          "Servers and clients are the production code on simulated NICs. A hop of the network"
              + " takes %d ns and %d ns a KiB, the server's link carries 40 Gb/s; a store to"
              + " persistent memory takes %d ns more; and, which the paper does not say, the"
              + " server's one processor %d ns a message and a client %d ns an operation. What Erda"
              + " gains is its mean over all columns beside the other's: with its own puts, which"
              + " publish last, and “announcing”, with those of the paper; both stand beside what"
              + " the paper has. An update that announces first takes two round trips, a message"
              + " and a WRITE, where one that publishes last and one of Redo Logging take one; and"
              + " until the server has seen that its object is whole, a get of its key takes"
              + " further READs. In the paper it takes as long as one of Redo Logging all the same;"
              + " how long its messages and its WRITEs take by themselves the paper does not say.",
          PaperMachines.NETWORK.wireNs(),
          PaperMachines.NETWORK.wireNsPerKib(),
          PaperMachines.STORE_NS,
          PaperMachines.MESSAGE_NS,
          PaperMachines.CLIENT_NS);

  @Override
  public String name() {
    return "simulated";
  }

  @Override
  public String what() {
    return "the paper's figures 14 to 25 in virtual time with its network and memory: latency by"
        + " sizes, throughput and the server's processor time of 1 to 64 clients; Erda's gain has"
        + " the paper's sign";
  }

  @Override
  public Report run(Context context) {
    int objects = context.quick() ? 300 : 1_000;
    int operations = context.quick() ? 1_500 : 12_000;
    Told latency = new Told(SIZES, "bytes", "mean latency", "µs");
    Told throughput = new Told(CLIENTS, "clients", "throughput", "thousand operations/s");
    Told cpu = new Told(CLIENTS, "clients", "the server's processor time an operation", "µs");
    List<String> missed = new ArrayList<>();
    ObjectNode json = new ObjectMapper().createObjectNode();
    for (Workload workload : Workload.values()) {
      context.progress().step("simulate " + workload.label);
      double[][] means = new double[Scheme.values().length][SIZES.length];
      double[][] rates = new double[Scheme.values().length][CLIENTS.length];
      double[][] costs = new double[Scheme.values().length][CLIENTS.length];
      for (Scheme scheme : Scheme.values()) {
        context.progress().at(scheme.title);
        for (int i = 0; i < SIZES.length; i++) {
          Dataset dataset = new Dataset(objects, SIZES[i]);
          means[scheme.ordinal()][i] =
              SimulatedRun.of(scheme, dataset, workload, 1, operations / 4).meanNs() / 1e3;
        }
        Dataset dataset = new Dataset(objects, VALUE_BYTES);
        for (int i = 0; i < CLIENTS.length; i++) {
          SimulatedRun.Figures figures =
              SimulatedRun.of(scheme, dataset, workload, CLIENTS[i], operations);
          rates[scheme.ordinal()][i] = figures.perSecond() / 1e3;
          costs[scheme.ordinal()][i] = figures.serverNs() / 1e3;
        }
        // Simulated files lie beside the heap, where the collector does not see how large they are.
        System.gc();
      }
      context.progress().done("");
      latency.add(workload, means, other -> PaperFigures.latencyRatio(workload, other), missed);
      throughput.add(
          workload, rates, other -> PaperFigures.throughputRatio(workload, other), missed);
      cpu.add(workload, costs, other -> 1 / PaperFigures.cpuRatio(workload, other), missed);
      ObjectNode node = json.putObject(workload.label);
      for (Scheme scheme : Scheme.values()) {
        ObjectNode figures = node.putObject(scheme.title);
        Arrays.stream(means[scheme.ordinal()]).forEach(figures.putArray("meanMicros")::add);
        Arrays.stream(rates[scheme.ordinal()]).forEach(figures.putArray("thousandPerSecond")::add);
        Arrays.stream(costs[scheme.ordinal()]).forEach(figures.putArray("serverMicros")::add);
      }
    }
    return Report.of(
        List.of(
            new Words(MODEL),
            Scheme.promises(),
            latency.table,
            latency.plot,
            throughput.table,
            throughput.plot,
            cpu.table,
            cpu.plot),
        json,
        missed);
  }

  /** What the paper has of Erda beside another scheme. */
  private interface OfPaper {
    double ratio(Scheme other);
  }

  /** One figure's table and plot. */
  private static final class Told {
    final Table table;
    final LinePlot plot;
    private final String what;
    private final double[] places;

    Told(int[] places, String across, String what, String unit) {
      this.what = what;
      this.places = Arrays.stream(places).asDoubleStream().toArray();
      List<String> header = new ArrayList<>(List.of(what, "scheme"));
      Arrays.stream(places).mapToObj(place -> place + " " + across).forEach(header::add);
      header.addAll(List.of("Erda beside it", "announcing", "paper"));
      table = new Table(header.toArray(String[]::new));
      plot = new LinePlot("Simulated: " + what, across, unit).inSteps();
    }

    void add(Workload workload, double[][] values, OfPaper ofPaper, List<String> missed) {
      plot.panel(workload.label);
      for (Scheme scheme : Scheme.values()) {
        double[] each = values[scheme.ordinal()];
        plot.curve(scheme.title, places, each);
        List<Object> row = new ArrayList<>(List.of(workload.label, scheme.title));
        Arrays.stream(each).mapToObj(Numbers::decimal).forEach(row::add);
        double ours = beside(Scheme.ERDA, values, scheme);
        row.add(scheme == Scheme.ERDA ? "" : PaperFigures.text(ours));
        if (scheme.isBaseline()) {
          double announcing = beside(Scheme.ERDA_ANNOUNCING, values, scheme);
          double paper = ofPaper.ratio(scheme);
          row.addAll(List.of(PaperFigures.text(announcing), PaperFigures.text(paper)));
          judge(workload, Scheme.ERDA, ours, scheme, paper, missed);
          judge(workload, Scheme.ERDA_ANNOUNCING, announcing, scheme, paper, missed);
        } else {
          row.addAll(List.of("", ""));
        }
        table.row(row.toArray());
      }
    }

    private static double beside(Scheme erda, double[][] values, Scheme scheme) {
      return mean(values[erda.ordinal()]) / mean(values[scheme.ordinal()]);
    }

    private void judge(
        Workload workload,
        Scheme erda,
        double ours,
        Scheme other,
        double paper,
        List<String> missed) {
      if (sign(ours) * sign(paper) < 0) {
        missed.add(
            String.format(
                Locale.ROOT,
                "%s, %s: %s beside %s is %.2f, in the paper %.2f",
                what,
                workload.label,
                erda.title,
                other.title,
                ours,
                paper));
      }
    }

    private static int sign(double ratio) {
      return Math.abs(ratio - 1) < EQUAL ? 0 : ratio > 1 ? 1 : -1;
    }

    private static double mean(double[] values) {
      return Arrays.stream(values).average().orElseThrow();
    }
  }
}
