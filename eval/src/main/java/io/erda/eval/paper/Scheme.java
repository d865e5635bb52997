package io.erda.eval.paper;

import io.erda.client.ErdaClient;
import io.erda.eval.baselines.BaselineKind;
import io.erda.eval.process.Transport;

/** What the paper compares. */
enum Scheme {
  ERDA("Erda", null),
  REDO_LOGGING("Redo Logging", BaselineKind.REDO_LOGGING),
  READ_AFTER_WRITE("Read After Write", BaselineKind.READ_AFTER_WRITE);

  final String title;
  private final BaselineKind baseline;

  Scheme(String title, BaselineKind baseline) {
    this.title = title;
    this.baseline = baseline;
  }

  /** Which baseline it is; null of Erda. */
  BaselineKind baseline() {
    return baseline;
  }

  /**
   * Connects a client, which belongs to one thread.
   *
   * @param transport by which a server of this scheme is reached
   * @param address where it is
   * @param valueBytes of every value
   */
  Caller connect(Transport transport, String address, int valueBytes) {
    return this == ERDA
        ? new ErdaCaller(ErdaClient.connect(address), valueBytes)
        : new BaselineCaller(baseline, transport.openClientDevice(), address, valueBytes);
  }
}
