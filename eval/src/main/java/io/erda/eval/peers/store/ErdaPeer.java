package io.erda.eval.peers.store;

import io.erda.client.ErdaClient;
import io.erda.protocol.Promise;

/** Erda behind a blocking client, wherever the store is. */
abstract class ErdaPeer extends SegmentStore {
  private final ErdaClient client;

  ErdaPeer(ErdaClient client, int valueBytes) {
    super(valueBytes);
    this.client = client;
  }

  @Override
  public void put() {
    client.put(key, value);
  }

  @Override
  public final int get() {
    return (int) client.get(key, got);
  }

  @Override
  public final String durability() {
    return client.promise() == Promise.POWER ? "power failure" : "kill of any process";
  }

  @Override
  public void close() {
    client.close();
  }
}
