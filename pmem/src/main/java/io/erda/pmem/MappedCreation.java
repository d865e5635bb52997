package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A creation that makes a nameless file, allocates its space in steps, and gives it its name at the
 * end.
 */
final class MappedCreation implements Creation {
  /**
   * The bytes that one step allocates. It is small because a file system in memory has to find and
   * zero each page.
   */
  private static final long STEP = 1 << 20;

  /** Makes a memory of the file when all of its space is allocated. */
  interface Finish {
    PersistentMemory open() throws IOException;
  }

  private final OpenDirectory directory;
  private final String name;
  private final long length;
  private final MappedFile.Kind kind;
  private final Finish finish;

  /**
   * The descriptor of the file; −1 when the file system has no nameless files, or when the creation
   * is over.
   */
  private int descriptor;

  private long allocated;

  MappedCreation(
      OpenDirectory directory, String name, long length, MappedFile.Kind kind, Finish finish) {
    this.directory = directory;
    this.name = name;
    this.length = length;
    this.kind = kind;
    this.finish = finish;
    this.descriptor = directory.createNameless();
  }

  @Override
  public PersistentMemory step() throws IOException {
    if (descriptor < 0) {
      return atOnce();
    }
    boolean done = false;
    try {
      if (allocated < length) {
        if (allocated == 0) {
          MappedFile.share(descriptor, directory, name);
          requireRoom();
        }
        long bytes = Math.min(STEP, length - allocated);
        if (!MappedFile.reserve(descriptor, file(), allocated, bytes)) {
          close();
          done = true;
          return atOnce();
        }
        allocated += bytes;
        done = true;
        return null;
      }
      assert allocated == length
          : file() + ": " + allocated + " of " + length + " bytes have space";
      if (kind.survives() == Survives.POWER_FAILURE) {
        FileErrors.check("fsync", Libc.fsync(descriptor), file());
      }
      FileErrors.check("linkat", directory.link(descriptor, name), file());
      done = true;
      close();
      return opened();
    } catch (OutOfSpaceException e) {
      throw MappedFile.outOfSpace(directory, length, e);
    } finally {
      if (!done) {
        close();
      }
    }
  }

  private Path file() {
    return directory.file(name);
  }

  /**
   * Refuses a file that does not fit, so that its allocation does not first fill the disk for other
   * programs.
   */
  private void requireRoom() throws OutOfSpaceException {
    if (directory.unallocatedBytes() < length) {
      throw new OutOfSpaceException("no room for " + file(), null);
    }
  }

  /** Creates the file in one step, because the file system can't do it in several. */
  private PersistentMemory atOnce() throws IOException {
    MappedFile.create(directory, name, length, kind);
    return opened();
  }

  /**
   * Opens the file. Deletes it when that fails, because otherwise the next creation would find the
   * name taken.
   */
  private PersistentMemory opened() throws IOException {
    boolean done = false;
    try {
      PersistentMemory memory = finish.open();
      done = true;
      return memory;
    } finally {
      if (!done) {
        directory.delete(name);
      }
    }
  }

  @Override
  public void close() {
    if (descriptor >= 0) {
      Libc.close(descriptor);
      descriptor = -1;
    }
  }
}
