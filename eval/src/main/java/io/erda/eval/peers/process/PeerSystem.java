package io.erda.eval.peers.process;

import io.erda.eval.peers.store.ErdaEmbedded;
import io.erda.eval.peers.store.ErdaShm;
import java.util.List;

/** The systems that are measured, in the order of the report. */
public enum PeerSystem {
  ERDA_SHM("Erda over shm, server process", ErdaShm.class.getName(), "", true, ""),
  ERDA_EMBEDDED("Erda embedded", ErdaEmbedded.class.getName(), "", false, ""),

  /** Looks into the JDK, and reports its use to its maker where it isn't told not to. */
  CHRONICLE_MAP(
      "Chronicle Map, persisted",
      "io.erda.peers.ChronicleMapStore",
      "chronicle-map",
      false,
      "--add-opens=java.base/java.lang=ALL-UNNAMED"
          + " --add-opens=java.base/java.lang.reflect=ALL-UNNAMED"
          + " --add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED"
          + " -Dchronicle.analytics.disable=true"),
  LMDB(
      "LMDB, WRITEMAP and NOSYNC",
      "io.erda.peers.LmdbStore",
      "lmdbjava",
      true,
      "--add-opens=java.base/java.nio=ALL-UNNAMED -Dlmdbjava.disable.checks=true"),
  ROCKSDB("RocksDB, WAL not synced", "io.erda.peers.RocksDbStore", "rocksdbjni", true, "");

  private final String title;
  private final String adapter;
  private final String artifact;
  private final boolean pipelines;
  private final String flags;

  PeerSystem(String title, String adapter, String artifact, boolean pipelines, String flags) {
    this.title = title;
    this.adapter = adapter;
    this.artifact = artifact;
    this.pipelines = pipelines;
    this.flags = flags;
  }

  /** What the report calls it. */
  public String title() {
    return title;
  }

  /** Whether its jars are part of this build. */
  public boolean isErda() {
    return artifact.isEmpty();
  }

  /** Whether a server in a process of its own belongs to it. */
  boolean hasServer() {
    return this == ERDA_SHM;
  }

  /** Whether many puts can be under way at once, or be given to it in one batch. */
  public boolean pipelines() {
    return pipelines;
  }

  /** The class that makes a {@link io.erda.eval.peers.store.PeerStore} of it. */
  String adapter() {
    return adapter;
  }

  /** What its jar is called; empty for Erda. */
  String artifact() {
    return artifact;
  }

  /** What its JVM needs beside the flags of every JVM of ours. */
  List<String> flags() {
    return flags.isEmpty() ? List.of() : List.of(flags.split(" "));
  }
}
