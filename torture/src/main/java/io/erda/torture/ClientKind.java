package io.erda.torture;

import java.util.List;
import java.util.Locale;

/** What a client process of the torture does. */
enum ClientKind {
  /** One thread, one blocking client. */
  BLOCKING(1),
  /** Asynchronous clients, one after the other, whose handler throws, submits and closes. */
  PIPELINED(1),
  /** Blocking clients that threads hand to each other, and close under each other. */
  SHARED(SharedClients.LOGS),
  /** One thread, one client that reads the store's files and asks no server. */
  READER(1);

  private final int logs;

  ClientKind(int logs) {
    this.logs = logs;
  }

  /** How many client numbers, each with a history of its own, such a process takes. */
  int logs() {
    return logs;
  }

  /** Those that there are where the server is at a URI: who reads files needs them at hand. */
  static List<ClientKind> over(String uri) {
    return uri.startsWith("erda+shm:") ? List.of(values()) : List.of(BLOCKING, PIPELINED, SHARED);
  }

  /** In words, for reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
