package io.erda.launcher.torture;

import java.util.Locale;

/** What a client process of the torture does. */
enum ClientKind {
  /** One thread, one blocking client. */
  BLOCKING(1),
  /** Asynchronous clients, one after the other, whose handler throws, submits and closes. */
  PIPELINED(1),
  /** Blocking clients that threads hand to each other, and close under each other. */
  SHARED(SharedClients.LOGS);

  private final int logs;

  ClientKind(int logs) {
    this.logs = logs;
  }

  /** How many client numbers, each with a history of its own, such a process takes. */
  int logs() {
    return logs;
  }

  /** In words, for reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
