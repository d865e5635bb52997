package io.erda.pmem;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Removes files that nothing needs any more. One that can't be removed is left behind: that costs
 * its space and nothing else, so it is told and tried again, and whoever wanted it removed goes on.
 *
 * <p>REQUIRES: a file of that name does no harm, to the process that goes on and to the one that
 * opens the directory next. One thread. Borrows the directory.
 */
public final class Leftovers {
  private final MemoryDirectory directory;
  private final MemoryDirectory watched;

  /** Names of the files that were left behind, and why each was; the oldest first. */
  private final Map<String, String> left = new LinkedHashMap<>();

  private final List<String> untold = new ArrayList<>();
  private Consumer<String> listener = untold::add;
  private long failures;

  public Leftovers(MemoryDirectory directory) {
    this.directory = directory;
    this.watched = new Watched(directory);
  }

  /**
   * The directory in which files are made: a name that is given to a new file there is no longer
   * that of a leftover, and {@link #again} leaves the file alone. REQUIRES: whoever makes files
   * beside this uses it. Owns the directory as any {@link ForwardingDirectory} does.
   */
  public MemoryDirectory directory() {
    return watched;
  }

  /** Sets who is told, in one line each, what was left behind; at once what is not told yet. */
  public void onLeft(Consumer<String> told) {
    listener = told;
    untold.forEach(told);
    untold.clear();
  }

  /** Removes a file, if it is there. Returns false when it is left behind. */
  public boolean remove(String name) {
    try {
      directory.delete(name);
      left.remove(name);
      return true;
    } catch (IOException e) {
      failures++;
      String why = FileErrors.inWords(e);
      if (!why.equals(left.put(name, why))) {
        listener.accept(why + ": the file is needed no more, and is left behind");
      }
      return false;
    }
  }

  /** Tells of something else that could not be done, and that nothing depends on. */
  public void undone(String what) {
    listener.accept(what);
  }

  /** Tries to remove again what is left. */
  public void again() {
    if (!left.isEmpty()) {
      List.copyOf(left.keySet()).forEach(this::remove);
    }
  }

  /** Files that are left behind now. */
  public int count() {
    return left.size();
  }

  /** How often a file could not be removed. */
  public long failures() {
    return failures;
  }

  /** Knows which names are given to new files. */
  private final class Watched extends ForwardingDirectory {
    Watched(MemoryDirectory directory) {
      super(directory);
    }

    @Override
    public PersistentMemory create(String name, long length) throws IOException {
      left.remove(name);
      return super.create(name, length);
    }

    @Override
    public Creation creating(String name, long length) throws IOException {
      left.remove(name);
      return super.creating(name, length);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      left.remove(to);
      super.rename(from, to);
    }
  }
}
