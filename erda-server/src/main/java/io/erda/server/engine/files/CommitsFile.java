package io.erda.server.engine.files;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Commits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The file of {@link Commits} as a server uses it: it stores the turn, and reads the records of
 * clients. One thread. Owns its memory.
 */
public final class CommitsFile implements AutoCloseable {
  private static final long PAUSE_NS = 20_000;

  /** How often an opening looks at records that stand, with a pause before each further look. */
  private static final int LOOKS = 500;

  private static final int SPINS = 100;

  /**
   * A record that stands.
   *
   * @param serial never 0; together with the line it names the record
   * @param keyWord of the entry
   * @param slot the slot of the entry
   * @param table the number of the table
   * @param expected the word that the client wants to replace
   * @param offset the offset of its object
   */
  public record Standing(
      int line, long serial, long keyWord, long slot, long table, long expected, int offset) {
    /** Whether the word in a slot of a table must not be this one while the record stands. */
    public boolean expects(long ofTable, long ofSlot, long word) {
      return table == ofTable && slot == ofSlot && expected == word;
    }
  }

  private final PersistentMemory memory;
  private final MemorySegment segment;

  /** Uses memory that has such a file. Owns it. */
  CommitsFile(PersistentMemory memory) {
    this.memory = memory;
    this.segment = memory.segment();
  }

  /**
   * Makes a new file, in which the turn is odd, in place of one that is there. REQUIRES: no record
   * stands in the other one, or {@link #fence} and what follows are done.
   */
  public static CommitsFile create(MemoryDirectory directory) throws IOException {
    directory.delete(Commits.FILE);
    CommitsFile file = new CommitsFile(directory.create(Commits.FILE, Commits.BYTES));
    boolean done = false;
    try {
      file.store(Commits.VERSION_OFFSET, Commits.versionAndLines());
      file.store(Commits.TURN_OFFSET, 1);
      file.store(Commits.MAGIC_OFFSET, Commits.MAGIC);
      done = true;
      return file;
    } finally {
      if (!done) {
        file.close();
      }
    }
  }

  /** Opens the file of an earlier server; null when there is none, or it was being made. */
  public static CommitsFile open(MemoryDirectory directory) throws IOException {
    if (!directory.exists(Commits.FILE)) {
      return null;
    }
    PersistentMemory memory;
    try {
      memory = directory.open(Commits.FILE);
    } catch (NotAMemoryException e) {
      return null;
    }
    if (!Commits.isValid(memory.segment())) {
      memory.close();
      return null;
    }
    return new CommitsFile(memory);
  }

  /**
   * Ends all commits of clients of an earlier server, for ever, but for those whose records stand
   * when this returns: they may come as long as their records stand. Waits for a bounded time.
   */
  public void fence() {
    store(Commits.TURN_OFFSET, turn() | 1);
    VarHandle.fullFence();
    for (int i = 0; i < LOOKS && !standing().isEmpty(); i++) {
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  public PersistentMemory memory() {
    return memory;
  }

  /** The number of the turn, as it is stored. */
  public long turn() {
    return Commits.load(segment, Commits.TURN_OFFSET);
  }

  /** Loads a word. */
  public long load(long offset) {
    return Commits.load(segment, offset);
  }

  /** Stores a word. */
  public void store(long offset, long value) {
    memory.putLongRelease(offset, value);
  }

  /** The tables that openings replace, or have replaced, by copies. */
  public List<Long> copied() {
    List<Long> all = new ArrayList<>();
    for (int i = 0; i < Commits.COPIED; i++) {
      long table = load(Commits.COPIED_OFFSET + (long) i * Long.BYTES);
      if (table != 0) {
        all.add(table);
      }
    }
    return all;
  }

  /**
   * Notes durably that a table is replaced by a copy. Returns false when there are too many such
   * tables.
   */
  public boolean storeCopied(long table) {
    if (copied().contains(table)) {
      return true;
    }
    for (int i = 0; i < Commits.COPIED; i++) {
      long at = Commits.COPIED_OFFSET + (long) i * Long.BYTES;
      if (load(at) == 0) {
        store(at, table);
        memory.flush(at, Long.BYTES);
        memory.drain();
        return true;
      }
    }
    return false;
  }

  /** Stores the turn, before all later loads. */
  public void storeTurn(long turn) {
    store(Commits.TURN_OFFSET, turn);
    VarHandle.fullFence();
  }

  /** The serial of the record of a line; 0 when none stands. */
  public long serial(int line) {
    return Commits.load(segment, Commits.line(line) + Commits.SERIAL);
  }

  /** All records that stand. */
  public List<Standing> standing() {
    List<Standing> all = new ArrayList<>();
    for (int line = 0; line < Commits.LINES; line++) {
      Standing one = serial(line) == 0 ? null : standing(line);
      if (one != null) {
        all.add(one);
      }
    }
    return all;
  }

  /**
   * The record of a line; null when none stands. REQUIRES: the turn is odd, so that a client that
   * stores another one clears it by itself.
   */
  public Standing standing(int line) {
    long at = Commits.line(line);
    for (int i = 0; i < SPINS; i++) {
      long serial = serial(line);
      if (serial == 0) {
        return null;
      }
      Standing found =
          new Standing(
              line,
              serial,
              Commits.load(segment, at + Commits.KEY_WORD),
              Commits.load(segment, at + Commits.SLOT),
              Commits.load(segment, at + Commits.TABLE),
              Commits.load(segment, at + Commits.EXPECTED),
              (int) Commits.load(segment, at + Commits.OFFSET));
      if (serial(line) == serial) {
        return found;
      }
    }
    return null;
  }

  @Override
  public void close() {
    memory.close();
  }
}
