package io.erda.rdma.tcp;

import io.erda.rdma.RefusalListener;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/** Counts and reports the peers that a serving device refuses. Any thread may read. */
final class RefusedPeers {
  /** Why a peer is refused. */
  enum Kind {
    GARBAGE("tcp.refused.garbage"),
    DAMAGED("tcp.refused.damaged"),
    VERSION("tcp.refused.versions"),
    SECRET("tcp.refused.secret"),
    TLS("tcp.refused.tls"),
    HANDSHAKE("tcp.refused.handshakes"),
    MEMORY("tcp.refused.memory");

    private final String figure;

    Kind(String figure) {
      this.figure = figure;
    }
  }

  static final String DAMAGED =
      "what it sent was damaged on its way: a frame does not have its checksum";

  /** The JVM may use no more memory outside of its heap; the connections that there are go on. */
  static final String MEMORY = "the JVM has no memory for another connection";

  static final String GARBAGE = "what it sent is none of the protocol";

  private final AtomicLongArray counts = new AtomicLongArray(Kind.values().length);
  private volatile RefusalListener listener = RefusalListener.NONE;

  void to(RefusalListener wanted) {
    listener = wanted;
  }

  void add(Kind kind, String peer, String why) {
    counts.incrementAndGet(kind.ordinal());
    listener.refused(peer, kind.figure, why);
  }

  /** Reports that no peers can connect, or that they can again. */
  void trouble(String what) {
    listener.trouble(what);
  }

  void addTo(Map<String, LongSupplier> figures) {
    for (Kind kind : Kind.values()) {
      figures.put(kind.figure, () -> counts.get(kind.ordinal()));
    }
  }
}
