package io.erda.eval.baselines;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.Transport;
import java.util.List;
import java.util.Optional;

/** Where stores are that are compared, and by what their client reaches them. */
public enum Deployment {
  SHM(Transport.SHM, "over shared memory", 1),

  /** In the process of their client. */
  EMBEDDED(
      null,
      "over the embedded device, in one process with their client, who takes the server's steps",
      1),

  TCP(Transport.TCP, "over TCP on loopback", 10),
  RDMA(Transport.RDMA, "over verbs, at this machine's own RDMA device", 10);

  private final Transport transport;

  /** What people call it, behind “Erda beside Redo Logging and Read After Write”. */
  final String where;

  /** How many times fewer operations than over shared memory take as long. */
  final int slowness;

  Deployment(Transport transport, String where, int slowness) {
    this.transport = transport;
    this.where = where;
    this.slowness = slowness;
  }

  /** What a program calls the device. */
  String device() {
    return hasServers() ? transport.toString() : "embedded";
  }

  /** Why this machine can't have it; empty when it can. */
  Optional<String> missing() {
    return hasServers() ? transport.missing() : Optional.empty();
  }

  /** Whether servers are other processes. Of those something is expected. */
  boolean hasServers() {
    return this != EMBEDDED;
  }

  /** A store of each scheme, in their order, loaded. */
  List<? extends ComparedStore> openAll(Context context, Dataset dataset) {
    return hasServers()
        ? ServedScheme.startAll(context, dataset, transport, 0, Counting.NOTHING)
        : EmbeddedScheme.openAll(context, dataset);
  }
}
