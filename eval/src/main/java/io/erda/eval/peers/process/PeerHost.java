package io.erda.eval.peers.process;

import io.erda.eval.memcached.MemcachedServer;
import io.erda.eval.process.Child;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.ServerChild;
import io.erda.eval.redis.RedisServer;
import java.time.Duration;

/**
 * The process that has a system's store open besides the measured one: a server, another user of
 * the store, or none.
 *
 * @param location of the store, for the measured process
 * @param ending kills the process, if there is one
 */
record PeerHost(String location, Runnable ending) {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

  /**
   * Bytes of an object in memcached besides key and value: the header of an item, and unused bytes
   * of its chunk.
   */
  private static final int MEMCACHED_OVERHEAD_BYTES = 128;

  private static final long MEMCACHED_BYTES_MIN = 64L << 20;

  /** Starts the host of a system, which has opened the store when this returns. */
  static PeerHost start(PeerSetup setup) {
    return switch (setup.system()) {
      case ERDA_SHM -> erda(setup, DeviceChoice.SHM);
      case ERDA_TCP -> erda(setup, DeviceChoice.TCP);
      case ERDA_EMBEDDED, CHRONICLE_MAP, LMDB, ROCKSDB, NOTHING -> nobody(setup);
      case CHRONICLE_MAP_SHARED -> chronicleMap(setup);
      case REDIS -> redis(setup, false);
      case REDIS_APPENDING -> redis(setup, true);
      case REDIS_TCP -> redisTcp(setup, false, 1);
      case REDIS_TCP_THREADS -> redisTcp(setup, false, cores());
      case REDIS_TCP_APPENDING -> redisTcp(setup, true, 1);
      case MEMCACHED -> memcached(setup, MemcachedServer.DEFAULT_THREADS);
      case MEMCACHED_THREADS -> memcached(setup, cores());
    };
  }

  /** A host without a process. */
  private static PeerHost nobody(PeerSetup setup) {
    return new PeerHost(setup.madeData().toString(), () -> {});
  }

  private static int cores() {
    return Runtime.getRuntime().availableProcessors();
  }

  private static PeerHost erda(PeerSetup setup, DeviceChoice device) {
    ServerChild server =
        ServerChild.start(setup.children(), setup.jvm(), setup.data(), device.serverOptions());
    return new PeerHost(server.uri(), server::kill);
  }

  private static PeerHost redis(PeerSetup setup, boolean appendOnly) {
    RedisServer server = RedisServer.start(setup.children(), setup.madeData(), false, appendOnly);
    return new PeerHost(server.socket().toString(), server::kill);
  }

  private static PeerHost redisTcp(PeerSetup setup, boolean appendOnly, int ioThreads) {
    RedisServer server =
        RedisServer.start(setup.children(), setup.madeData(), true, appendOnly, ioThreads);
    return new PeerHost(Integer.toString(server.address().getPort()), server::kill);
  }

  private static PeerHost memcached(PeerSetup setup, int threads) {
    long bytes = setup.objects() * (setup.valueBytes() + MEMCACHED_OVERHEAD_BYTES) * 3 / 2;
    MemcachedServer server =
        MemcachedServer.start(
            setup.children(), setup.madeData(), MEMCACHED_BYTES_MIN + bytes, threads);
    return new PeerHost(server.socket().toString(), server::kill);
  }

  /** A process that has the map open, and recovers it after a kill. */
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
