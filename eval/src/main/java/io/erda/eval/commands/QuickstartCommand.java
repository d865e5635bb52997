package io.erda.eval.commands;

import io.erda.console.ByteSize;
import io.erda.console.ResultFile;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.UserError;
import io.erda.eval.Quickstart;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.process.Children;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda quickstart}: runs a server, and YCSB against it from another process. */
@Command(
    name = "quickstart",
    description =
        "Start a server, load and run YCSB C, B, A and update-only against it from another process,"
            + " show the result.",
    showDefaultValues = true,
    footer = {
      "",
      "A thread has up to "
          + LoadPhase.INSERTS_IN_FLIGHT
          + " inserts in flight while it loads, and one operation in the workloads.",
      "Latencies are those of a YCSB thread, in nanoseconds, binding included. Server CPU is what"
          + " all threads of the server",
      "spent by the scheduler's account, less what they spend idle. NVM bytes are what server and"
          + " clients stored in the store's",
      "memory. Everything that was started is ended, and the store removed, at the end and on"
          + " Ctrl-C."
    })
public final class QuickstartCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--records", paramLabel = "N", description = "Records to load.")
  private long records = 100_000;

  @Option(
      names = "--operations",
      paramLabel = "N",
      showDefaultValue = Visibility.NEVER,
      description = "Operations of each workload (default: 1000000; over tcp and rdma 200000).")
  private Long operations;

  @Option(
      names = "--value-bytes",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description = "Bytes of a value.")
  private Long valueBytes = 1024L;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Client threads, one connection each.")
  private int threads = 1;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      description = "How the client reaches the server: shm, tcp or rdma.")
  private DeviceChoice device = DeviceChoice.SHM;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the result to a file, too.")
  private Path json;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      defaultValue = "${sys:java.io.tmpdir}",
      description = "Where the store goes while it runs.")
  private Path directory;

  /** The longest value that fits a segment of the default size, with key and field name. */
  private static final long VALUE_BYTES_MAX = (8L << 20) - 4096;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Quickstart.Options options =
        new Quickstart.Options(
            positive("--records", records),
            positive("--operations", operations == null ? operationsOver(device) : operations),
            valueBytes(),
            (int) positive("--threads", threads),
            device,
            directory);
    ResultFile.requireWritable(json);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Quickstart.Result result;
    try (Children children = new Children()) {
      Jvm jvm = Jvm.current();
      TerminalProgress progress = new TerminalProgress(err, StandardOutput.errorIsTerminal());
      result = new Quickstart(children, jvm, options, progress).run();
    }
    out.println();
    out.print(Quickstart.table(result));
    out.flush();
    ResultFile.write(json, Quickstart.json(result));
    if (result.errors() > 0) {
      throw new UserError(result.errors() + " operations failed");
    }
    return 0;
  }

  /** As many operations as the workloads do in a minute or two. */
  private static long operationsOver(DeviceChoice device) {
    return device == DeviceChoice.SHM ? 1_000_000 : 200_000;
  }

  private int valueBytes() {
    if (positive("--value-bytes", valueBytes) > VALUE_BYTES_MAX) {
      throw new UserError(
          "--value-bytes must be at most " + VALUE_BYTES_MAX + ": " + valueBytes, 2);
    }
    return valueBytes.intValue();
  }

  private static long positive(String flag, long value) {
    if (value <= 0) {
      throw new UserError(flag + " must be at least 1: " + value, 2);
    }
    return value;
  }
}
