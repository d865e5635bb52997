package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.perSecond;

import io.erda.eval.Experiment;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Unit;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Throughput and the server's processor time by the number of clients: the paper's figures 18 to
 * 25. Clients, servers and other processes share the cores of this machine, while the paper's
 * clients have their own machines.
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
    return "Erda gains where the paper's figures 18 to 25 have it so, in throughput and the"
        + " server's processor time, over shared memory with 1 to 8 clients and values of 1 KiB";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 10_000 : 100_000;
    int operations = context.quick() ? 20_000 : 200_000;
    int rounds = context.roundsOr(5, 2);
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    Beside throughput = new Beside("operations", Unit.PER_SECOND, "clients", CLIENTS, false);
    Beside cpu = new Beside("serverCpu", Unit.NS, "clients", CLIENTS, false);
    Map<PaperWorkload, Double> oneErdaNs = new EnumMap<>(PaperWorkload.class);
    List<ServedScheme> schemes =
        ServedScheme.startAll(context, dataset, DeviceChoice.SHM, 0, Counting.NOTHING);
    try {
      for (PaperWorkload workload : PaperWorkload.values()) {
        Map<Scheme, double[]> perSecond = byScheme();
        Map<Scheme, double[]> cpuNs = byScheme();
        for (int i = 0; i < CLIENTS.length; i++) {
          context.progress().step(workload.label + ", clients: " + CLIENTS[i]);
          for (Series series :
              new SideBySide(context, schemes, dataset, workload, CLIENTS[i], operations, rounds)
                  .run()) {
            perSecond.get(series.scheme)[i] = Rounds.median(series.perSecond);
            cpuNs.get(series.scheme)[i] = Rounds.median(series.cpuNs);
          }
          context.progress().done("");
        }
        oneErdaNs.put(workload, 1e9 / perSecond.get(Scheme.ERDA)[0]);
        throughput.add(
            workload, perSecond, other -> PaperFigures.throughputRatio(workload, other), 0);
        cpu.add(workload, cpuNs, other -> 1 / PaperFigures.cpuRatio(workload, other));
      }
    } finally {
      ComparedStore.closeAll(schemes);
    }
    Floor floor = Floor.of(context, dataset, ZipfianKeys.readAlone(dataset));
    Figures floors = new Figures("one client");
    oneErdaNs.forEach((workload, ns) ->
        floors
            .row(workload.label)
            .add(
                ns("an operation", ns),
                ns("floor", floor.ns(workload.updatePercent)),
                floor.beside(ns, workload.updatePercent)));
    Report report =
        context
            .report()
            .add(Scheme.promises())
            .words(
                "“Erda beside it” and “announcing” are Erda's operations a second, or the"
                    + " processor time of its server for an operation, beside the row's, in the"
                    + " mean of all columns: with its own puts and where it announces first."
                    + " Clients and servers share this machine's cores ("
                    + Runtime.getRuntime().availableProcessors()
                    + "), so curves are flat from as many clients on.")
            .add("throughput", throughput.figures())
            .add(PaperFigures.throughput())
            .add(throughput.plot("Throughput by clients"))
            .words("The server's processor time an operation:")
            .add("serverCpu", cpu.figures())
            .add(PaperFigures.cpu())
            .add(cpu.plot("The server's processor time an operation"))
            .add("oneClient", floors);
    return floor.tell(report);
  }

  private static Map<Scheme, double[]> byScheme() {
    Map<Scheme, double[]> values = new EnumMap<>(Scheme.class);
    for (Scheme scheme : Scheme.values()) {
      values.put(scheme, new double[CLIENTS.length]);
    }
    return values;
  }
}
