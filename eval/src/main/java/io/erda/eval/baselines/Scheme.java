package io.erda.eval.baselines;

import io.erda.client.ErdaClient;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.report.Prose;
import io.erda.protocol.PutMode;
import io.erda.rdma.Poller;

/** The schemes that the paper compares, and Erda with its default puts. */
enum Scheme {
  /** With puts that publish last. */
  ERDA("Erda", PutMode.PUBLISH, null),

  /** With the puts of the paper. */
  ERDA_ANNOUNCING("Erda, announce first", PutMode.ANNOUNCE, null),

  REDO_LOGGING("Redo Logging", null, BaselineKind.REDO_LOGGING),
  READ_AFTER_WRITE("Read After Write", null, BaselineKind.READ_AFTER_WRITE);

  private static final long TIMEOUT_NS = 10_000_000_000L;

  final String title;
  private final PutMode puts;
  private final BaselineKind baseline;

  Scheme(String title, PutMode puts, BaselineKind baseline) {
    this.title = title;
    this.puts = puts;
    this.baseline = baseline;
  }

  /** Whether it is a baseline. */
  boolean isBaseline() {
    return baseline != null;
  }

  /** The kind of the baseline; null for Erda. */
  BaselineKind baseline() {
    return baseline;
  }

  /** Erda's put mode; null for a baseline. */
  PutMode puts() {
    return puts;
  }

  /** The promises of the schemes' puts, for a report that compares them. */
  static Prose promises() {
    return new Prose(
        "“Erda” puts as it does by default: the object is written, then published. “Erda, announce"
            + " first” puts as in the Erda paper, and promises less: that values are never torn."
            + " What the others acknowledge survives a kill of any process; in virtual time it"
            + " survives a power failure.");
  }

  /**
   * Connects a client, which belongs to one thread.
   *
   * @param transport to a server of this scheme
   * @param address of that server
   * @param valueBytes of every value
   */
  Caller connect(DeviceChoice transport, String address, int valueBytes) {
    if (!isBaseline()) {
      return new ErdaCaller(ErdaClient.connect(address), valueBytes);
    }
    return new BaselineCaller(
        transport.openClientDevice(),
        device ->
            new BaselineCalls(
                baseline, device, address, TIMEOUT_NS, Poller.DEFAULT_BUDGET_NS, System::nanoTime),
        valueBytes);
  }
}
