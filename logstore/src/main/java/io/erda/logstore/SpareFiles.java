package io.erda.logstore;

import io.erda.pmem.Creation;
import io.erda.pmem.FileErrors;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.UnwritableFileSystemException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Files that no region is linked to, for the next regions: made ahead of time, so that linking is a
 * header, a new name and a word; or left by regions that were cleaned, and whose pages are in
 * memory already.
 *
 * <p>No record names a spare file, so opening removes those that a crash left. Names in the
 * directory: {@code spare-NUMBER} of those that were made, {@code left-GENERATION} of those that a
 * region left. Owns the memories it has. One thread.
 */
final class SpareFiles {
  /** The names of spare files. */
  static final Pattern FILE = Pattern.compile("(spare|left)-[0-9]+");

  record Spare(String name, PersistentMemory memory) {}

  private final MemoryDirectory directory;
  private final Leftovers leftovers;
  private final long bytes;
  private final ArrayDeque<Spare> spares = new ArrayDeque<>();

  /** Null: a file is made at once when it is needed. */
  private UnaryOperator<Creation> ahead;

  private Creation creation;
  private String creating;
  private long next = 1;
  private long failures;
  private String failure;
  private boolean failedLast;
  private boolean outOfSpace;
  private boolean ofFileSize;
  private String trouble;

  SpareFiles(MemoryDirectory directory, Leftovers leftovers, long bytes) {
    this.directory = directory;
    this.leftovers = leftovers;
    this.bytes = bytes;
  }

  static String nameOfLeft(int generation) {
    return "left-" + generation;
  }

  void makeAhead(UnaryOperator<Creation> over) {
    ahead = over;
  }

  int count() {
    return spares.size();
  }

  boolean making() {
    return creation != null;
  }

  /** Whether it was for want of space that none could be made the last time. */
  boolean outOfSpace() {
    return outOfSpace;
  }

  /** Whether it was because a single file may not be so large. */
  boolean ofFileSize() {
    return ofFileSize;
  }

  /** Why the last that was to be made could not be; null where it was made. */
  String trouble() {
    return trouble;
  }

  /** How often none could be made, for want of space mostly. */
  long failures() {
    return failures;
  }

  /** Why there was none the last time. */
  String failure() {
    return failure;
  }

  /** The disk seems to have room again. */
  void mayHaveRoom() {
    failedLast = false;
  }

  /** Whether none could be made the last time, and nothing said since that there is room. */
  boolean failedLast() {
    return failedLast;
  }

  /** One that is ready, or null. The latest: its pages are the most likely to be in a cache. */
  Spare take() {
    return spares.pollLast();
  }

  void keep(Spare spare) {
    spares.addLast(spare);
  }

  /** Begins to make one, unless that is under way; to the end, where nobody does it ahead. */
  void make() throws IOException {
    if (creation == null) {
      creating = unusedName();
      creation = directory.creating(creating, bytes);
      creation = ahead == null ? creation : ahead.apply(creation);
    }
    while (ahead == null && creation != null) {
      step();
    }
  }

  /** A file of an earlier server that could not be removed keeps its name. */
  private String unusedName() {
    String name;
    do {
      name = "spare-" + next++;
    } while (isTaken(name));
    return name;
  }

  /** Where that can't be told, the creation will. */
  private boolean isTaken(String name) {
    try {
      return directory.exists(name);
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** A step of making one. Returns 0 when none is being made. */
  int step() throws IOException {
    if (creation == null) {
      return 0;
    }
    boolean goesOn = false;
    try {
      PersistentMemory memory = creation.step();
      goesOn = memory == null;
      if (memory != null) {
        spares.addLast(new Spare(creating, memory));
        failedLast = false;
        trouble = null;
      }
    } catch (IOException e) {
      // Nothing depends on a file that was to be: it is tried again.
      failed(e);
    } finally {
      if (!goesOn) {
        creation.close();
        creation = null;
      }
    }
    return 1;
  }

  /**
   * None could be had, for this reason.
   *
   * @throws UnwritableFileSystemException when that is the reason: no file comes any more
   */
  void failed(IOException why) throws UnwritableFileSystemException {
    if (why instanceof UnwritableFileSystemException e) {
      throw e;
    }
    failures++;
    failedLast = true;
    outOfSpace = why instanceof OutOfSpaceException;
    ofFileSize = why instanceof OutOfSpaceException full && full.isOfFileSize();
    failure = FileErrors.inWords(why);
    trouble = failure;
  }

  /** Takes the name of the one that waits longest; its memory is the caller's. Null: none. */
  PersistentMemory remove() {
    Spare spare = spares.pollFirst();
    if (spare == null) {
      return null;
    }
    leftovers.remove(spare.name);
    return spare.memory;
  }

  /** Gives up making one; a name that came to be goes. */
  void giveUp() {
    if (creation != null) {
      creation.close();
      creation = null;
      leftovers.remove(creating);
    }
  }

  void close() {
    if (creation != null) {
      creation.close();
      creation = null;
    }
    spares.forEach(spare -> spare.memory.close());
    spares.clear();
  }
}
