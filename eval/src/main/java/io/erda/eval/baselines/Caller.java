package io.erda.eval.baselines;

import io.erda.eval.process.ProcessException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A client of a scheme with blocking calls. One thread. */
abstract class Caller implements AutoCloseable {
  final MemorySegment into;

  Caller(int valueBytes) {
    into = Arena.ofAuto().allocate(valueBytes, 8);
  }

  /** Gets an existing value. */
  abstract void get(MemorySegment key);

  abstract void put(MemorySegment key, MemorySegment value);

  /** Deletes a key that has a value. */
  abstract void delete(MemorySegment key);

  @Override
  public abstract void close();

  final void requireLength(long length) {
    if (length != into.byteSize()) {
      throw new ProcessException("a get returned " + length + " bytes");
    }
  }

  static void requireExisted(boolean existed) {
    if (!existed) {
      throw new ProcessException("a delete found no value");
    }
  }
}
