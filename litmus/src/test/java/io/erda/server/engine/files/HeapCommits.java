package io.erda.server.engine.files;

import io.erda.litmus.Stretch;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Commits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Files of commits for states, of which jcstress makes some thousand at a time, in one memory. A
 * file is large, and a state uses its turn and one line, so the files overlap: each begins {@link
 * #APART} bytes behind the one before, and what one state uses no other one does.
 */
final class HeapCommits {
  /** The line that a state uses. */
  static final int LINE = 1;

  private static final int FILES = 1 << 13;
  private static final long APART = 320;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final PersistentMemory ALL = memory();

  static {
    // Turn and record of all files have different places modulo the distance of two files.
    assert Commits.line(LINE) % APART == 192 && Commits.OFFSET < 64 && Commits.TURN_OFFSET == 128;
  }

  private HeapCommits() {}

  private static PersistentMemory memory() {
    try {
      return new HeapDirectory().create("files", FILES * APART + Commits.BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A file with this turn, in which no record stands. The oldest one is used again. */
  static CommitsFile take(long turn) {
    long at = NEXT.getAndIncrement() % FILES * APART;
    CommitsFile file = new CommitsFile(new Stretch(ALL, at, Commits.BYTES));
    file.store(Commits.line(LINE) + Commits.SERIAL, 0);
    file.storeTurn(turn);
    return file;
  }
}
