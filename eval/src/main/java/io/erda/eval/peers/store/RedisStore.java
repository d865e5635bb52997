package io.erda.eval.peers.store;

import io.erda.eval.redis.RedisClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/** A Redis server, on a Unix socket if the location is a path, or on TCP if it is a port. */
public final class RedisStore extends SegmentStore {
  private final RedisClient client;
  private final PeerPlace place;

  public RedisStore(PeerPlace place) {
    super(place.valueBytes());
    this.client = connect(place.location(), place.valueBytes());
    this.place = place;
  }

  private static RedisClient connect(String location, int valueBytes) {
    return location.startsWith("/")
        ? RedisClient.connect(Path.of(location), KEY_BYTES, valueBytes, PIPELINE_DEPTH)
        : RedisClient.connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(location)),
            KEY_BYTES,
            valueBytes,
            PIPELINE_DEPTH);
  }

  @Override
  public PeerStore another() {
    return new RedisStore(place);
  }

  @Override
  public void put() {
    client.addSet(key, value);
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
    return client.get(key, got);
  }

  /** Redis writes to its file before it answers, and syncs the file every second. */
  @Override
  public String durability() {
    return client.appendsToFile()
        ? "kill of the server; power but for 1 s (its manual)"
        : NO_DURABILITY;
  }

  @Override
  public void close() {
    client.close();
  }
}
