package io.erda.simulation.system;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.ReadableDirectory;
import io.erda.protocol.Promise;
import io.erda.rdma.Device;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * What the simulation runs: the production code, or a decorated one. Nothing that it makes may
 * wait, look at a real clock, or keep anything outside the objects it is given.
 */
public interface StoreUnderTest {
  /**
   * A server process starts: opens or creates the store, recovers, listens.
   *
   * @param directory the disk, as a process of this life sees it; not yet locked
   */
  Server start(
      MemoryDirectory directory,
      Device device,
      String address,
      LongSupplier nanoTime,
      RandomGenerator random)
      throws IOException;

  /**
   * As {@link #start}, of a store that was damaged: what an inspection finds is told, not thrown.
   *
   * @param findings gets the key, or null where it can't be told, and what is wrong with it
   */
  default Server startDamaged(
      MemoryDirectory directory,
      Device device,
      String address,
      LongSupplier nanoTime,
      RandomGenerator random,
      BiConsumer<byte[], String> findings)
      throws IOException {
    return start(directory, device, address, nanoTime, random);
  }

  /**
   * What openings from now on ask to be promised.
   *
   * @param promise null: nothing is said, so the store keeps what it promised before
   */
  default void wanted(Promise promise) {}

  /**
   * How many regions the log may have, which the next opening asks for.
   *
   * @param regions 0: nothing is said, so as many as until now
   */
  default void wantedRegions(int regions) {}

  /** How many regions the log may have that was opened last; 0 where nothing is said of it. */
  default int regionsMax() {
    return 0;
  }

  /** What the store promises that was opened last; null where nothing is said of it. */
  default Promise promise() {
    return null;
  }

  /**
   * Looks at a copy of a store that nobody has open, as somebody who verifies it does.
   *
   * @param findings gets the key, or null where it can't be told, and what is wrong with it
   */
  void inspect(
      MemoryDirectory directory, RandomGenerator random, BiConsumer<byte[], String> findings);

  /** A client process starts to connect. */
  Client connect(Device device, String address, LongSupplier nanoTime, ClientEvents events);

  /**
   * A client process starts to read the files of the store, and does nothing else.
   *
   * @param directory the store's, as that process sees it
   */
  default Client read(ReadableDirectory directory, LongSupplier nanoTime, ClientEvents events) {
    throw new UnsupportedOperationException();
  }

  /** Whether {@link #read} is there. */
  default boolean hasReaders() {
    return false;
  }

  /** Whether clients iterate; without, nobody asks them to. */
  default boolean iterates() {
    return true;
  }

  /** A state machine of the server. A crash drops it without closing it. */
  interface Server {
    /** One step. Returns 0 when there was nothing to do. */
    int doWork();

    /**
     * Before its first step: it is not served on this device, which stands for clients of earlier
     * servers.
     */
    default void countStrangersOf(Device device) {}

    /** Puts that were announced and are neither committed nor taken back. */
    default long undecided() {
      return 0;
    }

    /** What is wrong where nobody has asked for anything for a while; null where nothing is. */
    default String wrongWhenIdle() {
      return null;
    }

    /** Regions that were cleaned so far. */
    default long cleanings() {
      return 0;
    }

    /** How often the table was halved so far. */
    default long halvings() {
      return 0;
    }

    /** How often a halving found no room and turned round so far. */
    default long halvingsTurned() {
      return 0;
    }

    /** How often the table was doubled so far. */
    default long doublings() {
      return 0;
    }

    /** Whether it takes no more puts, because the files of the store failed. */
    default boolean isReadOnly() {
      return false;
    }

    /** Ends in order, as a server that is told to stop does: closes the store. */
    default void stop() {}

    /** When all is over: releases what the real memory is needed for. Dead or alive. */
    default void release() {}
  }

  /** A state machine of a client. A crash drops it without closing it. */
  interface Client {
    /** One step; reports to the {@link ClientEvents}. Returns 0 when there was nothing to do. */
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

    /** Submits a put that is done if the key has that value; false when the pipeline is full. */
    default boolean compareAndSet(
        long token, MemorySegment key, MemorySegment expected, MemorySegment value) {
      throw new UnsupportedOperationException();
    }

    /** Submits a delete that is done if the key has that value; false when the pipeline is full. */
    default boolean compareAndDelete(long token, MemorySegment key, MemorySegment expected) {
      throw new UnsupportedOperationException();
    }

    /** Begins an iteration over all keys, and forgets the one before. */
    default void iterate() {
      throw new UnsupportedOperationException();
    }

    /** Submits that the iteration comes to its next key. */
    default void next(long token) {
      throw new UnsupportedOperationException();
    }

    /** Ends in order: tells the {@link ClientEvents} of everything in flight. */
    default void close() {}

    /** When all is over: releases what the real memory is needed for. Dead or alive. */
    default void release() {}
  }

  /** Hears of the ends of a client's operations. */
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

    /** It has no effect, now or ever. */
    void failed(long token, RuntimeException why);

    /**
     * It may have taken effect.
     *
     * @param last whether it did or never will; else it may yet
     */
    void unknown(long token, boolean last, RuntimeException why);

    /** What must never happen when nothing was damaged. */
    void broken(long token, RuntimeException why);
  }
}
