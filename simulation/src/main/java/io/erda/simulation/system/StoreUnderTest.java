package io.erda.simulation.system;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.ReadableDirectory;
import io.erda.protocol.Promise;
import io.erda.rdma.Device;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The system that the simulation runs: the production code, or a decorated one. Its objects must
 * not block, read a real clock, or keep state outside the objects that they are given.
 */
public interface StoreUnderTest {
  /**
   * A server process starts: opens or creates the store, recovers, listens.
   *
   * @param directory the disk, as seen by this process; not yet locked
   * @param abandoned devices that it is not served on, for clients of earlier servers
   */
  Server start(
      MemoryDirectory directory,
      Device device,
      String address,
      List<Device> abandoned,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException;

  /**
   * As {@link #start}, of a store that was damaged: findings of an inspection are passed on, not
   * thrown.
   *
   * @param findings receives the key, or null when it is unknown, and what is wrong
   */
  default Server startDamaged(
      MemoryDirectory directory,
      Device device,
      String address,
      LongSupplier nanoTime,
      RandomGenerator random,
      BiConsumer<byte[], String> findings)
      throws IOException {
    return start(directory, device, address, List.of(), nanoTime, random);
  }

  /**
   * Sets the promise that later openings ask for.
   *
   * @param promise null: none, so the store keeps its promise
   */
  default void wanted(Promise promise) {}

  /**
   * Sets the number of regions of the log that the next opening asks for.
   *
   * @param regions 0: none, so the store keeps its number
   */
  default void wantedRegions(int regions) {}

  /**
   * Sets what lets time pass, in nanoseconds, within a step of a server that waits for a client.
   */
  default void pausesBy(LongConsumer pause) {}

  /** The number of regions that the log may have, as opened last; 0 when unknown. */
  default int regionsMax() {
    return 0;
  }

  /** The promise of the store as opened last; null when unknown. */
  default Promise promise() {
    return null;
  }

  /**
   * Inspects a copy of a store that no process has open, as verification does.
   *
   * @param findings receives the key, or null when it is unknown, and what is wrong
   */
  void inspect(
      MemoryDirectory directory, RandomGenerator random, BiConsumer<byte[], String> findings);

  /** A client process starts to connect. */
  Client connect(Device device, String address, LongSupplier nanoTime, ClientEvents events);

  /** A client starts to connect to the server in whose process it lives. */
  default Client connectInside(
      Device device, String address, LongSupplier nanoTime, ClientEvents events) {
    return connect(device, address, nanoTime, events);
  }

  /**
   * A client process starts that only reads the files of the store.
   *
   * @param directory the store's, as that process sees it
   */
  default Client read(ReadableDirectory directory, LongSupplier nanoTime, ClientEvents events) {
    throw new UnsupportedOperationException();
  }

  /** Whether {@link #read} is supported. */
  default boolean hasReaders() {
    return false;
  }

  /** Whether clients support iterations. */
  default boolean iterates() {
    return true;
  }

  /** A state machine of the server. A crash drops it without closing it. */
  interface Server {
    /** Takes one step. Returns 0 when there was nothing to do. */
    int doWork();

    /** Number of puts that were announced and are neither committed nor rolled back. */
    default long undecided() {
      return 0;
    }

    /** Returns an error that is visible after a time without requests; null when there is none. */
    default String wrongWhenIdle() {
      return null;
    }

    /** Number of regions that were cleaned so far. */
    default long cleanings() {
      return 0;
    }

    /** Number of times that the table was halved so far. */
    default long halvings() {
      return 0;
    }

    /** Number of halvings so far that found no room and turned around. */
    default long halvingsTurned() {
      return 0;
    }

    /** Number of times that the table was doubled so far. */
    default long doublings() {
      return 0;
    }

    /**
     * Number of commits of clients of other processes that were ended because they were stopped.
     */
    default long commitsDefeated() {
      return 0;
    }

    /** Number of puts and deletes that clients in its process have committed so far. */
    default long commitsInside() {
      return 0;
    }

    /** Whether it takes no more puts, because the files of the store failed. */
    default boolean isReadOnly() {
      return false;
    }

    /** Whether {@link #stop} may be called: no client in its process is within a commit. */
    default boolean mayStop() {
      return true;
    }

    /** Ends in order, as a server that is told to stop does: closes the store. */
    default void stop() {}

    /** Releases real memory when the run is over, whether the server is alive or dead. */
    default void release() {}
  }

  /** A state machine of a client. A crash drops it without closing it. */
  interface Client {
    /**
     * Takes one step; reports to the {@link ClientEvents}. Returns 0 when there was nothing to do.
     */
    int doWork();

    /** Submits a get; false when the pipeline is full. */
    boolean get(long token, MemorySegment key);

    /** Submits a put; false when the pipeline is full. Key and value are copied. */
    boolean put(long token, MemorySegment key, MemorySegment value);

    /** Submits a delete; false when the pipeline is full. */
    boolean delete(long token, MemorySegment key);

    /** Submits a put that is done if the key has no value; false when the pipeline is full. */
    default boolean putIfAbsent(long token, MemorySegment key, MemorySegment value) {
      throw new UnsupportedOperationException();
    }

    /**
     * Submits a put that is done if the key has the expected value; false when the pipeline is
     * full.
     */
    default boolean compareAndSet(
        long token, MemorySegment key, MemorySegment expected, MemorySegment value) {
      throw new UnsupportedOperationException();
    }

    /**
     * Submits a delete that is done if the key has the expected value; false when the pipeline is
     * full.
     */
    default boolean compareAndDelete(long token, MemorySegment key, MemorySegment expected) {
      throw new UnsupportedOperationException();
    }

    /** Begins an iteration over all keys, and drops the one before. */
    default void iterate() {
      throw new UnsupportedOperationException();
    }

    /** Submits a step of the iteration to its next key. */
    default void next(long token) {
      throw new UnsupportedOperationException();
    }

    /**
     * Ends the client in order, and passes the ends of all operations in flight to the {@link
     * ClientEvents}.
     */
    default void close() {}

    /** Releases real memory when the run is over, whether the client is alive or dead. */
    default void release() {}
  }

  /** Receives the ends of a client's operations. */
  interface ClientEvents {
    /**
     * A get ended.
     *
     * @param value the bytes, or null for absent; valid during the call
     */
    void got(long token, MemorySegment value);

    void done(long token);

    void deleted(long token, boolean existed);

    /**
     * A put or delete with a condition ended.
     *
     * @param done whether the condition held
     */
    void compared(long token, boolean done);

    /**
     * An iteration has come to its next key, or to its end.
     *
     * @param key valid during the call, as is the value; null at the end
     */
    default void entry(long token, MemorySegment key, MemorySegment value) {}

    /** An operation failed: it has no effect, now or ever. */
    void failed(long token, RuntimeException why);

    /**
     * An operation's outcome is unknown.
     *
     * @param last whether it took effect or never will; otherwise it still may
     */
    void unknown(long token, boolean last, RuntimeException why);

    /** An operation failed in a way that is never allowed without damage. */
    void broken(long token, RuntimeException why);
  }
}
