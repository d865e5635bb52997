package io.erda.eval.peers.store;

import io.erda.eval.memcached.MemcachedClient;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Base64;

/** A memcached server on a Unix socket. Its keys are text, so ours are encoded in Base64. */
public final class MemcachedStore extends SegmentStore {
  private static final int TEXT_BYTES = (KEY_BYTES + 2) / 3 * 4;

  private final MemcachedClient client;
  private final PeerPlace place;
  private final byte[] keyBytes = new byte[KEY_BYTES];
  private final byte[] text = new byte[TEXT_BYTES];
  private final MemorySegment textKey = MemorySegment.ofArray(text);

  public MemcachedStore(PeerPlace place) {
    super(place.valueBytes());
    this.client =
        MemcachedClient.connect(
            Path.of(place.location()), TEXT_BYTES, place.valueBytes(), PIPELINE_DEPTH);
    this.place = place;
  }

  private MemorySegment textKey() {
    key().get(0, keyBytes);
    Base64.getEncoder().encode(keyBytes, text);
    return textKey;
  }

  @Override
  public PeerStore another() {
    return new MemcachedStore(place);
  }

  @Override
  public void put() {
    client.addSet(textKey(), value);
    if (!place.pipelined() || client.addedSets() == PIPELINE_DEPTH) {
      client.awaitSets();
    }
  }

  @Override
  public void awaitPuts() {
    if (client.addedSets() > 0) {
      client.awaitSets();
    }
  }

  @Override
  public int get() {
    return client.get(textKey(), got);
  }

  @Override
  public String durability() {
    return NO_DURABILITY;
  }

  @Override
  public void close() {
    client.close();
  }
}
