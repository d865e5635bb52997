package io.erda.server;

import io.erda.server.engine.service.ServerCore;

/**
 * An {@link OpenedStore} that is being served: the store, the {@link ServerCore} over it, and the
 * threads that work for this core beside the server's thread. Owns these threads.
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
