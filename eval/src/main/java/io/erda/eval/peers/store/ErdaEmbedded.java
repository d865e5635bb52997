package io.erda.eval.peers.store;

import io.erda.server.ErdaStore;
import java.nio.file.Path;

/** Erda in the process of its user. */
public final class ErdaEmbedded extends ErdaPeer {
  private final ErdaStore store;

  public ErdaEmbedded(PeerPlace place) {
    this(ErdaStore.open(Path.of(place.location())), place.valueBytes());
  }

  private ErdaEmbedded(ErdaStore store, int valueBytes) {
    super(store.client(), valueBytes);
    this.store = store;
  }

  @Override
  public void close() {
    super.close();
    store.close();
  }
}
