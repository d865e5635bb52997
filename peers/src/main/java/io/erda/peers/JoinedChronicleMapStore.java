package io.erda.peers;

import io.erda.eval.peers.store.PeerPlace;
import java.io.IOException;

/** The Chronicle Map that another process has made, or recovered, and still has open. */
public final class JoinedChronicleMapStore extends ChronicleMapStore {
  public JoinedChronicleMapStore(PeerPlace place) throws IOException {
    super(place, true);
  }
}
