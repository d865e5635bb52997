package io.erda.eval.peers.process;

import io.erda.eval.peers.store.ErdaEmbedded;
import io.erda.eval.peers.store.ErdaShm;
import io.erda.eval.peers.store.ErdaTcp;
import io.erda.eval.peers.store.MemcachedStore;
import io.erda.eval.peers.store.NothingStore;
import io.erda.eval.peers.store.RedisStore;
import java.util.List;

/** The measured systems, in the order of the report. */
public enum PeerSystem {
  ERDA_SHM("Erda over shm, server process", ErdaShm.class.getName(), PeerOrigin.OURS, true),
  ERDA_EMBEDDED("Erda embedded", ErdaEmbedded.class.getName(), PeerOrigin.OURS, false),
  ERDA_TCP("Erda over TCP, server process", ErdaTcp.class.getName(), PeerOrigin.OURS, false),
  CHRONICLE_MAP(
      "Chronicle Map, persisted", "io.erda.peers.ChronicleMapStore", Origins.CHRONICLE_MAP, false),
  CHRONICLE_MAP_SHARED(
      "Chronicle Map, open in two processes",
      "io.erda.peers.JoinedChronicleMapStore",
      Origins.CHRONICLE_MAP,
      false),
  LMDB(
      "LMDB, WRITEMAP and NOSYNC",
      "io.erda.peers.LmdbStore",
      PeerOrigin.jar(
          "lmdbjava",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "-Dlmdbjava.disable.checks=true"),
      true),
  ROCKSDB(
      "RocksDB, WAL not synced", "io.erda.peers.RocksDbStore", PeerOrigin.jar("rocksdbjni"), true),
  REDIS("Redis, Unix socket, no file", RedisStore.class.getName(), Origins.REDIS, true),
  REDIS_APPENDING(
      "Redis, Unix socket, append-only file", RedisStore.class.getName(), Origins.REDIS, true),
  REDIS_TCP("Redis, TCP, no file", RedisStore.class.getName(), Origins.REDIS, true),
  REDIS_TCP_APPENDING(
      "Redis, TCP, append-only file", RedisStore.class.getName(), Origins.REDIS, true),

  /** As many threads read and write its sockets as the machine has cores. */
  REDIS_TCP_THREADS(
      "Redis, TCP, a thread for each core, no file",
      RedisStore.class.getName(),
      Origins.REDIS,
      true),
  MEMCACHED("memcached, Unix socket", MemcachedStore.class.getName(), Origins.MEMCACHED, true),

  /** As many threads serve its clients as the machine has cores. */
  MEMCACHED_THREADS(
      "memcached, Unix socket, a thread for each core",
      MemcachedStore.class.getName(),
      Origins.MEMCACHED,
      true),

  /** No store, to measure the harness itself. */
  NOTHING("no store: the harness alone", NothingStore.class.getName(), PeerOrigin.OURS, false);

  private final String title;
  private final String adapter;
  private final String artifact;
  private final String program;
  private final String flags;
  private final boolean pipelines;

  PeerSystem(String title, String adapter, PeerOrigin origin, boolean pipelines) {
    this.title = title;
    this.adapter = adapter;
    this.artifact = origin.artifact();
    this.program = origin.program();
    this.flags = String.join(" ", origin.flags());
    this.pipelines = pipelines;
  }

  /** The name of the system in the report. */
  public String title() {
    return title;
  }

  /** Whether it is Erda itself. */
  public boolean isErda() {
    return this == ERDA_SHM || this == ERDA_EMBEDDED || this == ERDA_TCP;
  }

  /** Whether it stores objects. */
  public boolean isStore() {
    return this != NOTHING;
  }

  /** Whether it is measured only with several threads at once. */
  public boolean isForThreads() {
    return switch (this) {
      case ERDA_TCP, REDIS_TCP_THREADS, MEMCACHED_THREADS -> true;
      default -> false;
    };
  }

  /** Whether many puts can be under way at once, or in one batch. */
  public boolean pipelines() {
    return pipelines;
  }

  /** The class that makes a {@link io.erda.eval.peers.store.PeerStore} of it. */
  String adapter() {
    return adapter;
  }

  /** The name of its jar; empty when it has none. */
  String artifact() {
    return artifact;
  }

  /** The program that is its server; empty when it has none. */
  String program() {
    return program;
  }

  boolean hasJar() {
    return !artifact.isEmpty();
  }

  /** Flags that its JVM needs besides those of every JVM of the build. */
  List<String> flags() {
    return flags.isEmpty() ? List.of() : List.of(flags.split(" "));
  }

  /** Origins that several systems share. */
  private static final class Origins {
    /** Uses internals of the JDK, and reports its use to its maker unless that is turned off. */
    static final PeerOrigin CHRONICLE_MAP =
        PeerOrigin.jar(
            "chronicle-map",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
            "-Dchronicle.analytics.disable=true");

    static final PeerOrigin REDIS = PeerOrigin.program("redis-server");
    static final PeerOrigin MEMCACHED = PeerOrigin.program("memcached");
  }
}
