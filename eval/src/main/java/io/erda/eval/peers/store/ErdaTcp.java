package io.erda.eval.peers.store;

import io.erda.client.ErdaClient;

/** Erda over TCP, its server in another process of this machine. */
public final class ErdaTcp extends ErdaPeer {
  private final PeerPlace place;

  public ErdaTcp(PeerPlace place) {
    super(ErdaClient.connect(place.location()), place.valueBytes());
    this.place = place;
  }

  @Override
  public PeerStore another() {
    return new ErdaTcp(place);
  }
}
