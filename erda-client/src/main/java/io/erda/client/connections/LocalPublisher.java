package io.erda.client.connections;

import java.lang.foreign.MemorySegment;

/**
 * A server in the process of its clients that publishes in their threads, or the table of a server
 * in which a client commits by itself: an object that a client has built goes to its place in the
 * log and becomes the newest version of its key within one call, without a message ({@code
 * docs/decisions/2026-11-23-what-a-put-costs.md}).
 *
 * <p>It may decline at any time. Then nothing was changed, and the client WRITEs the object and
 * SENDs a message, as over any other device.
 */
public interface LocalPublisher {
  /** The publisher declined: nothing was changed. */
  int LATER = 0;

  /** The put is done; the key had no value before. A delete then changed nothing. */
  int DONE = 1;

  /** The put or delete is done; the key had a value before. */
  int REPLACED = 2;

  /**
   * The store failed during the call, and it is unknown whether the put took effect. {@link
   * Line#failure} has the reason.
   */
  int FAILED = 3;

  /** An object that a client has built, and the place for it in the log. Reused. */
  final class Built {
    /** The number of the lease that the place belongs to. */
    public long reservation;

    public int head;

    /** The offset of the place, in the units in which a version word names it. */
    public int offset;

    /**
     * Memory that begins with the whole object, including its checksum. No thread stores to it
     * during the call.
     */
    public MemorySegment memory;

    /** Length of the object without padding. */
    public int bytes;

    public int keyLength;
    public long keyWord;

    /** Whether it is a tombstone. */
    public boolean delete;
  }

  /**
   * Returns the object through which a connection publishes. The numbers are those of the
   * connection's welcome.
   */
  Line line(int clientId, int connectionEpoch);

  /** One connection. It belongs to one thread at a time, as its client does. */
  interface Line {
    /**
     * Whether {@link #publish} is unlikely to decline: no other thread takes a step of the server.
     */
    boolean isFree();

    /**
     * Publishes an object at a place of the connection's lease.
     *
     * @return one of the constants of {@link LocalPublisher}
     */
    int publish(Built object);

    /** Returns in words why the store takes no more puts. */
    String failure();

    /** The error that the store ended with; null when it takes no more puts for another reason. */
    Throwable cause();
  }
}
