package io.erda.eval.peers.process;

import io.erda.eval.memcached.MemcachedServer;
import io.erda.eval.process.Child;
import io.erda.eval.process.ServerChild;
import io.erda.eval.redis.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * Who has a system's store beside the process that is measured: a server, another process that has
 * opened it too, or nobody.
 *
 * @param location what the measured process opens
 * @param ending kills the process, where there is one
 */
record PeerHost(String location, Runnable ending) {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

  /** Next to a key and a value in memcached: the header of an item, and what its chunk has over. */
  private static final int MEMCACHED_OVERHEAD_BYTES = 128;

  private static final long MEMCACHED_BYTES_MIN = 64L << 20;

  /** Starts that of a system, which has opened the store when this returns. */
  static PeerHost start(PeerSetup setup) {
    return switch (setup.system()) {
      case ERDA_SHM -> erda(setup);
      case ERDA_EMBEDDED, CHRONICLE_MAP, LMDB, ROCKSDB, NOTHING -> nobody(setup);
      case CHRONICLE_MAP_SHARED -> chronicleMap(setup);
      case REDIS -> redis(setup, false);
      case REDIS_APPENDING -> redis(setup, true);
      case REDIS_TCP -> redisTcp(setup, false);
      case REDIS_TCP_APPENDING -> redisTcp(setup, true);
      case MEMCACHED -> memcached(setup);
    };
  }

  /** The measured process alone. */
  private static PeerHost nobody(PeerSetup setup) {
    return new PeerHost(setup.madeData().toString(), () -> {});
  }

  private static PeerHost erda(PeerSetup setup) {
    ServerChild server = ServerChild.start(setup.children(), setup.jvm(), setup.data(), List.of());
    return new PeerHost(server.uri(), server::kill);
  }

  private static PeerHost redis(PeerSetup setup, boolean appendOnly) {
    RedisServer server = RedisServer.start(setup.children(), setup.madeData(), false, appendOnly);
    return new PeerHost(server.socket().toString(), server::kill);
  }

  private static PeerHost redisTcp(PeerSetup setup, boolean appendOnly) {
    RedisServer server = RedisServer.start(setup.children(), setup.madeData(), true, appendOnly);
    return new PeerHost(Integer.toString(server.address().getPort()), server::kill);
  }

  private static PeerHost memcached(PeerSetup setup) {
    long bytes = setup.objects() * (setup.valueBytes() + MEMCACHED_OVERHEAD_BYTES) * 3 / 2;
    MemcachedServer server =
        MemcachedServer.start(setup.children(), setup.madeData(), MEMCACHED_BYTES_MIN + bytes);
    return new PeerHost(server.socket().toString(), server::kill);
  }

  /** A process that has the map open, and recovers it where it was killed. */
  private static PeerHost chronicleMap(PeerSetup setup) {
    String location = setup.madeData().toString();
    Child other = setup.startWorker(PeerSystem.CHRONICLE_MAP.adapter(), location);
    other.await(PeerAnswer.OPEN, START_TIMEOUT);
    return new PeerHost(
        location,
        () -> {
          other.kill();
          setup.children().forget(other);
        });
  }
}
