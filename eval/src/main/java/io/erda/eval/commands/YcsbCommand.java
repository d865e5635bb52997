package io.erda.eval.commands;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code erda ycsb}: the options. {@link YcsbRun} is a separate class because help reads the
 * options of every command when YCSB is not on the class path.
 */
@Command(
    name = "ycsb",
    description = "Run YCSB's own client against a store.",
    footer = {
      "",
      "Exit code 1 when an operation failed. Workload files are in workloads/; a hash index keeps"
          + " no order, so there is no scan.",
      "",
      "With -p batchsize=16 a thread has up to 16 inserts in flight: a load is faster.",
      "",
      "  ./erda ycsb load -P workloads/workloada -p erda.uri=erda+shm:/var/lib/erda",
      "  ./erda ycsb run  -P workloads/workloada -p erda.uri=erda+shm:/var/lib/erda -threads 2 -s"
    })
public final class YcsbCommand implements Callable<Integer> {
  /** The phase of YCSB to run. */
  enum Phase {
    LOAD,
    RUN
  }

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "load|run", description = "Load the records, or run the transactions.")
  private Phase phase;

  @Option(names = "-P", paramLabel = "FILE", description = "A workload file; later ones win.")
  private List<Path> files = List.of();

  @Option(names = "-p", paramLabel = "NAME=VALUE", description = "A property; wins over the files.")
  private List<String> properties = List.of();

  @Option(
      names = "-threads",
      paramLabel = "N",
      description = "Client threads, one connection each.")
  private Integer threads;

  @Option(
      names = "-target",
      paramLabel = "N",
      description = "Operations per second to aim at; no limit by default.")
  private Integer target;

  @Option(names = "-s", description = "Show the status while it runs.")
  private boolean status;

  @Option(names = "-l", paramLabel = "LABEL", description = "A label for the status lines.")
  private String label;

  @Option(
      names = "-db",
      paramLabel = "CLASS",
      description = "The binding; io.erda.ycsb.ErdaDb by default.")
  private String db;

  @Override
  public Integer call() throws Exception {
    return new YcsbRun(phase, files, properties, threads, target, status, label, db)
        .call(spec.commandLine().getErr());
  }
}
