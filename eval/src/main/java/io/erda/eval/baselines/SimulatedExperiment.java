package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.bytes;

import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.report.Report;
import io.erda.eval.report.Unit;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The paper's figures 14 to 25 in virtual time, with the paper's network and memory, and more
 * clients than this machine has cores.
 */
public final class SimulatedExperiment implements Experiment {
  private static final int[] SIZES = {16, 64, 256, 1024, 4096};
  private static final int[] CLIENTS = {1, 2, 4, 8, 16, 32, 64};
  private static final int VALUE_BYTES = 1024;

  /** Ratios nearer to 1 count as equal, as the paper calls those of updates. */
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
    return "Erda gains where the paper's figures 14 to 25 have it so, in virtual time with its"
        + " network and memory: latency by sizes, throughput and the server's processor time of 1"
        + " to 64 clients";
  }

  @Override
  public Report run(Context context) {
    int objects = context.quick() ? 300 : 1_000;
    int operations = context.quick() ? 1_500 : 12_000;
    Beside latency = new Beside("mean", Unit.NS, "bytes", SIZES, true);
    Beside throughput = new Beside("operations", Unit.PER_SECOND, "clients", CLIENTS, true);
    Beside cpu = new Beside("serverCpu", Unit.NS, "clients", CLIENTS, true);
    for (PaperWorkload workload : PaperWorkload.values()) {
      context.progress().step("simulate " + workload.label);
      Map<Scheme, double[]> means = new EnumMap<>(Scheme.class);
      Map<Scheme, double[]> rates = new EnumMap<>(Scheme.class);
      Map<Scheme, double[]> costs = new EnumMap<>(Scheme.class);
      for (Scheme scheme : Scheme.values()) {
        context.progress().at(scheme.title);
        means.put(
            scheme,
            Arrays.stream(SIZES)
                .mapToDouble(bytes ->
                    SimulatedRun.of(
                            scheme, new Dataset(objects, bytes), workload, 1, operations / 4)
                        .meanNs())
                .toArray());
        List<SimulatedRun.Figures> byClients =
            Arrays.stream(CLIENTS)
                .mapToObj(clients ->
                    SimulatedRun.of(
                        scheme, new Dataset(objects, VALUE_BYTES), workload, clients, operations))
                .toList();
        rates.put(
            scheme, byClients.stream().mapToDouble(SimulatedRun.Figures::perSecond).toArray());
        costs.put(scheme, byClients.stream().mapToDouble(SimulatedRun.Figures::serverNs).toArray());
        // The memory of simulated files is outside the heap, and the collector does not know its
        // size.
        System.gc();
      }
      context.progress().done("");
      latency.add(workload, means, other -> PaperFigures.latencyRatio(workload, other), EQUAL);
      throughput.add(
          workload, rates, other -> PaperFigures.throughputRatio(workload, other), EQUAL);
      cpu.add(workload, costs, other -> 1 / PaperFigures.cpuRatio(workload, other), EQUAL);
    }
    return context
        .report()
        .words(MODEL)
        .add(Scheme.promises())
        .words("The mean latency of an operation, by bytes of a value:")
        .add("latency", latency.figures())
        .add(PaperFigures.latency())
        .add(latency.plot("Simulated: mean latency"))
        .words("Throughput:")
        .add("throughput", throughput.figures())
        .add(PaperFigures.throughput())
        .add(throughput.plot("Simulated: throughput"))
        .words("The server's processor time an operation:")
        .add("serverCpu", cpu.figures())
        .add(PaperFigures.cpu())
        .add(cpu.plot("Simulated: the server's processor time an operation"));
  }
}
