package io.erda.eval.baselines;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.DeviceChoice;
import java.util.List;
import java.util.Optional;

/** Where the compared stores are, and how their clients reach them. */
public enum Deployment {
  SHM(DeviceChoice.SHM, "over shared memory", 1),

  /** In the process of their client. */
  EMBEDDED(
      null,
      "over the embedded device, in one process with their client, who takes the server's steps",
      1),

  TCP(DeviceChoice.TCP, "over TCP on loopback", 10),
  RDMA(DeviceChoice.RDMA, "over verbs, at this machine's own RDMA device", 10);

  private final DeviceChoice transport;

  /** A phrase for people, to follow “Erda beside Redo Logging and Read After Write”. */
  final String where;

  /**
   * By which factor there are fewer operations than over shared memory, for about the same
   * duration.
   */
  final int slowness;

  Deployment(DeviceChoice transport, String where, int slowness) {
    this.transport = transport;
    this.where = where;
    this.slowness = slowness;
  }

  /** The device's name for programs. */
  String device() {
    return hasServers() ? transport.toString() : "embedded";
  }

  /** Why this machine does not support it; empty when it does. */
  Optional<String> missing() {
    return hasServers() ? transport.missing() : Optional.empty();
  }

  /** Whether servers are separate processes; only these have goals. */
  boolean hasServers() {
    return this != EMBEDDED;
  }

  /** A loaded store of each scheme, in order. */
  List<? extends ComparedStore> openAll(Context context, Dataset dataset) {
    return hasServers()
        ? ServedScheme.startAll(context, dataset, transport, 0, Counting.NOTHING)
        : EmbeddedScheme.openAll(context, dataset);
  }
}
