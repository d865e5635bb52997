package io.erda.rdma.tcp;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;

/**
 * Looks up the names of hosts for those who must not wait. The resolver of the system blocks, for
 * ten seconds or more when a name server is silent, and no interrupt or time-out ends it. So each
 * lookup has a daemon thread, which ends with the lookup. All who ask for a name while it is being
 * looked up share that lookup, so clients that try again and again don't pile up threads. Any
 * thread.
 */
final class HostLookups {
  /** The lookups of this process. */
  static final HostLookups OF_PROCESS = new HostLookups(new OfSystem());

  private final Resolver resolver;
  private final Map<String, HostLookup> underWay = new HashMap<>();

  /** Finds the addresses of a host. May block. */
  interface Resolver {
    InetAddress[] addressesOf(String host) throws UnknownHostException;
  }

  HostLookups(Resolver resolver) {
    this.resolver = resolver;
  }

  /**
   * Begins to look up a host, or joins the lookup that is under way. Does not block.
   *
   * @param whenOver is run by the lookup's thread when the lookup ends; a lookup that ended before
   *     this method returned may not run it
   * @throws OutOfMemoryError when the process can start no thread; then no lookup is under way
   */
  HostLookup begin(String host, Runnable whenOver) {
    HostLookup lookup;
    synchronized (underWay) {
      lookup = underWay.get(host);
      if (lookup == null) {
        lookup = new HostLookup(this, host);
        start(host, lookup);
      }
    }
    lookup.whenOver(whenOver);
    return lookup;
  }

  /** Starts a lookup. REQUIRES: the lock of {@code underWay}. */
  private void start(String host, HostLookup lookup) {
    // The thread takes over neither the context class loader nor the inheritable thread locals of
    // the asking thread, which would stay in memory for as long as a name server is silent.
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("erda-lookup")
            .inheritInheritableThreadLocals(false)
            .unstarted(lookup);
    underWay.put(host, lookup);
    boolean started = false;
    try {
      thread.start();
      started = true;
    } finally {
      if (!started) {
        underWay.remove(host);
      }
    }
  }

  Resolver resolver() {
    return resolver;
  }

  /**
   * Called by a lookup that has a result. Who asks for the name from now on gets another lookup.
   */
  void forget(String host, HostLookup lookup) {
    synchronized (underWay) {
      underWay.remove(host, lookup);
    }
  }

  /**
   * The resolver of the system. A lambda that is first linked with an exhausted heap fails for
   * ever.
   */
  private static final class OfSystem implements Resolver {
    @Override
    public InetAddress[] addressesOf(String host) throws UnknownHostException {
      return InetAddress.getAllByName(host);
    }
  }
}
