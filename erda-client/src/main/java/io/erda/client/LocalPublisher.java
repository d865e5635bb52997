package io.erda.client;

import java.lang.foreign.MemorySegment;

/**
 * A server that lives in one process with its clients, and publishes in their threads: what a
 * client has built goes to its place in the log and becomes the newest version of its key within
 * one call, without a message ({@code docs/decisions/2026-11-23-what-a-put-costs.md}).
 *
 * <p>It may decline at any time. Then nothing was done, and the client WRITEs and SENDs as over any
 * other device.
 */
public interface LocalPublisher {
  /** Declined: nothing was done. */
  int LATER = 0;

  /** It is the newest version; the key had no value before. */
  int DONE = 1;

  /** It is the newest version; the key had a value before. */
  int REPLACED = 2;

  /** The store failed meanwhile; whether it took effect is not known. {@link Line#failure} says. */
  int FAILED = 3;

  /** An object that a client has built, and the place that is meant for it. Reused. */
  final class Built {
    /** The number of the lease that the place belongs to. */
    public long reservation;

    public int head;

    /** The offset of the place, in the units in which a version word names it. */
    public int offset;

    /** Begins with the object, whole and with its checksum; nobody stores to it meanwhile. */
    public MemorySegment memory;

    /** How many bytes the object has, without padding. */
    public int bytes;

    public int keyLength;
    public long keyWord;

    /** Whether it is a tombstone. */
    public boolean delete;
  }

  /** What one connection publishes through. The numbers are those of its welcome. */
  Line line(int clientId, int connectionEpoch);

  /** One connection. It belongs to one thread at a time, as its client does. */
  interface Line {
    /** Whether {@link #publish} is likely to do something: nobody takes a step of the server. */
    boolean isFree();

    /**
     * Publishes an object at a place of the connection's lease.
     *
     * @return one of the constants of {@link LocalPublisher}
     */
    int publish(Built object);

    /** Why the store takes no more puts, in words. */
    String failure();

    /** The error that the store ended with; null where it takes no more puts for another reason. */
    Throwable cause();
  }
}
