package io.erda.eval.peers.store;

import io.erda.client.ErdaClient;
import io.erda.protocol.Promise;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Erda behind a blocking client, wherever the store is. */
abstract class ErdaPeer implements PeerStore {
  final MemorySegment key = Arena.ofAuto().allocate(KEY_BYTES, Long.BYTES);
  final MemorySegment value;
  private final MemorySegment got;
  private final ByteBuffer keyBuffer = buffer(key);
  private final ByteBuffer valueBuffer;
  private final ByteBuffer gotBuffer;
  private final ErdaClient client;

  ErdaPeer(ErdaClient client, int valueBytes) {
    this.client = client;
    this.value = Arena.ofAuto().allocate(valueBytes, Long.BYTES);
    this.got = Arena.ofAuto().allocate(valueBytes, Long.BYTES);
    this.valueBuffer = buffer(value);
    this.gotBuffer = buffer(got);
  }

  private static ByteBuffer buffer(MemorySegment segment) {
    return segment.asByteBuffer().order(ByteOrder.nativeOrder());
  }

  @Override
  public final ByteBuffer key() {
    return keyBuffer;
  }

  @Override
  public final ByteBuffer value() {
    return valueBuffer;
  }

  @Override
  public final ByteBuffer got() {
    return gotBuffer;
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
