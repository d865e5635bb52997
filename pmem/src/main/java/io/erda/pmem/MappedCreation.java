package io.erda.pmem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A nameless file whose space is allocated in steps, and which gets its name last. */
final class MappedCreation implements Creation {
  /** Bytes that one step allocates. A file system in memory finds and zeroes each page of them. */
  private static final long STEP = 1 << 20;

  /** Makes a memory of the file when all of its space is allocated. */
  interface Finish {
    PersistentMemory open() throws IOException;
  }

  private final Path file;
  private final long length;
  private final MappedFile.Kind kind;
  private final Finish finish;

  /** −1 when the file system has no nameless files, or when the creation is over. */
  private int descriptor;

  private long allocated;

  MappedCreation(Path file, long length, MappedFile.Kind kind, Finish finish) throws IOException {
    this.file = file;
    this.length = length;
    this.kind = kind;
    this.finish = finish;
    this.descriptor = Libc.open(file.getParent(), Libc.O_RDWR | Libc.O_TMPFILE);
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
          MappedFile.share(descriptor, file);
          requireRoom();
        }
        long bytes = Math.min(STEP, length - allocated);
        if (!MappedFile.reserve(descriptor, file, allocated, bytes)) {
          close();
          done = true;
          return atOnce();
        }
        allocated += bytes;
        done = true;
        return null;
      }
      if (kind.survives() == Survives.POWER_FAILURE) {
        Libc.check("fsync", Libc.fsync(descriptor), file);
      }
      Libc.check("linkat", Libc.link(descriptor, file), file);
      done = true;
      close();
      return opened();
    } catch (OutOfSpaceException e) {
      throw MappedFile.outOfSpace(file, length, e);
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /** Refuses a file that there is no room for before others meet a full disk because of it. */
  private void requireRoom() throws OutOfSpaceException {
    if (MappedFile.unallocatedBytes(file.getParent()) < length) {
      throw new OutOfSpaceException("no room for " + file, null);
    }
  }

  /** Creates the file at once, where the file system can't do it in steps. */
  private PersistentMemory atOnce() throws IOException {
    MappedFile.create(file, length, kind);
    return opened();
  }

  /** Opens the file, which loses its name when that fails: it would be in the next one's way. */
  private PersistentMemory opened() throws IOException {
    boolean done = false;
    try {
      PersistentMemory memory = finish.open();
      done = true;
      return memory;
    } finally {
      if (!done) {
        Files.deleteIfExists(file);
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
