package io.erda.eval.baselines;

import io.erda.client.ErdaClient;
import java.lang.foreign.MemorySegment;

/** A client of Erda. Owns it. */
final class ErdaCaller extends Caller {
  private final ErdaClient client;

  ErdaCaller(ErdaClient client, int valueBytes) {
    super(valueBytes);
    this.client = client;
  }

  @Override
  void get(MemorySegment key) {
    requireLength(client.get(key, into));
  }

  @Override
  void put(MemorySegment key, MemorySegment value) {
    client.put(key, value);
  }

  @Override
  void delete(MemorySegment key) {
    requireExisted(client.delete(key));
  }

  @Override
  public void close() {
    client.close();
  }
}
