package io.erda.eval.peers.store;

import io.erda.server.ErdaStore;
import java.nio.file.Path;

/** Erda in the process of its user. */
public final class ErdaEmbedded extends ErdaPeer {
  private final ErdaStore store;
  private final int valueBytes;
  private final boolean isOwner;

  public ErdaEmbedded(PeerPlace place) {
    this(ErdaStore.open(Path.of(place.location())), place.valueBytes(), true);
  }

  private ErdaEmbedded(ErdaStore store, int valueBytes, boolean isOwner) {
    super(store.client(), valueBytes);
    this.store = store;
    this.valueBytes = valueBytes;
    this.isOwner = isOwner;
  }

  @Override
  public PeerStore another() {
    return new ErdaEmbedded(store, valueBytes, false);
  }

  @Override
  public void close() {
    super.close();
    if (isOwner) {
      store.close();
    }
  }
}
