package io.erda.server;

import io.erda.server.engine.service.ServerCore;

/**
 * A store that is served. Owns the threads beside the server's that work for the core.
 *
 * @param syncs null when puts do not wait for a device
 */
record StoreService(OpenedStore store, ServerCore core, FileThreads files, SyncThreads syncs) {
  /** Ends the threads. Idempotent. A store that is full goes on without them. */
  void endThreads() {
    files.close();
    endSyncs();
  }

  void endSyncs() {
    if (syncs != null) {
      syncs.close();
    }
  }
}
