package io.erda.torture;

import java.util.List;
import java.util.Locale;

/** The kinds of client processes. */
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

  /** The number of client numbers of such a process, each with its own history. */
  int logs() {
    return logs;
  }

  /** The kinds that can use the server at a URI: readers need its files on the same host. */
  static List<ClientKind> over(String uri) {
    return uri.startsWith("erda+shm:") ? List.of(values()) : List.of(BLOCKING, PIPELINED, SHARED);
  }

  /** In words, for reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
