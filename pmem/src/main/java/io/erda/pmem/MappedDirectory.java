package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A directory of files, each mapped whole into this process and into others.
 *
 * <p>The opening determines which failure the memories survive. On a file system with {@code
 * MAP_SYNC} (DAX on persistent memory) they survive power failure in any {@link Mode}. On a file
 * system that lives in memory (tmpfs, ramfs) they survive only a process crash. On all other file
 * systems the mode decides. With {@code MAP_SYNC} the directory assumes that the persistence domain
 * begins at the memory controller, so a store is visible before it is durable.
 *
 * <p>The directory allocates the space of a file before the file gets its name. It allocates
 * missing space again before it maps the file, because a copied file may have holes. So a store
 * does not fail and raises no SIGBUS, unless somebody truncates a file, the device breaks, or a
 * file system that copies on write runs full.
 *
 * <p>Needs Linux. The lock is flock(2) on the directory itself: it leaves no file, the kernel
 * releases it when the process ends, and two openings in one process exclude each other too.
 */
public final class MappedDirectory implements MemoryDirectory {
  /** The promise of a directory on a file system without {@code MAP_SYNC}. */
  public enum Mode {
    /**
     * {@link Survives#PROCESS_CRASH}: stores go to the page cache, and the kernel writes them back
     * at any time; flush and drain cost nothing.
     */
    PAGE_CACHE,
    /**
     * {@link Survives#POWER_FAILURE}: drain writes what was flushed to the device with msync(2),
     * which waits for the device.
     */
    SYNCED
  }

  /** The length of a file for {@link #writeAgain}. */
  public static final long SPARE_BYTES = KeptCopy.BYTES;

  private final OpenDirectory directory;

  /**
   * How files are mapped. {@link #promise} may change it before the first file is opened, except on
   * DAX.
   */
  private MappedFile.Kind kind;

  /** The name of a file system that lives in memory; null for any other. */
  private final String inMemory;

  private final Map<SegmentMemory, String> opened = new ConcurrentHashMap<>();
  private final ReadAhead readAhead;
  private boolean locked;
  private boolean closed;

  /**
   * Whether everything was released. A {@link #close} that runs out of memory throws before that.
   */
  private boolean released;

  private MappedDirectory(OpenDirectory directory, boolean dax, Mode mode, ReadAhead readAhead) {
    this.readAhead = readAhead;
    this.directory = directory;
    this.inMemory = MappedFile.inMemory(directory.descriptor());
    this.kind = dax ? MappedFile.Kind.DAX : kind(mode);
  }

  /** {@link #open(Path, Mode)} with {@link Mode#PAGE_CACHE}. */
  public static MappedDirectory open(Path directory) throws IOException {
    return open(directory, Mode.PAGE_CACHE);
  }

  /**
   * Opens a directory that exists and can be written to. Creates and changes nothing in it.
   *
   * @throws NoSuchFileException when there is none
   * @throws NotDirectoryException when the path is that of something else
   * @throws java.nio.file.AccessDeniedException when this user may not write it
   * @throws UnwritableFileSystemException when its file system is read-only
   */
  public static MappedDirectory open(Path directory, Mode mode) throws IOException {
    return open(directory, mode, new ReadAhead());
  }

  static MappedDirectory open(Path directory, Mode mode, ReadAhead readAhead) throws IOException {
    OpenDirectory opened = OpenDirectory.open(directory);
    boolean done = false;
    try {
      boolean dax = MappedFile.isDax(opened);
      done = true;
      return new MappedDirectory(opened, dax, mode, readAhead);
    } finally {
      if (!done) {
        opened.close();
      }
    }
  }

  /** The open directory, which this object closes. */
  public OpenDirectory opened() {
    return directory;
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    MemoryDirectory.requireLength(length);
    require(name);
    MappedFile.create(directory, name, length, kind);
    boolean done = false;
    try {
      PersistentMemory memory = open(name);
      done = true;
      return memory;
    } finally {
      if (!done) {
        directory.delete(name);
      }
    }
  }

  @Override
  public long usableBytes() {
    return directory.usableBytes();
  }

  @Override
  public boolean readsAlone() {
    return readAhead.isAlone();
  }

  @Override
  public Creation creating(String name, long length) throws IOException {
    MemoryDirectory.requireLength(length);
    require(name);
    return new MappedCreation(
        directory,
        name,
        length,
        kind,
        () -> opened(name, MappedFile.mapFilled(directory, name, length, kind)));
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.nio.file.FileSystemException also when the file is empty, or no regular file
   * @throws OutOfSpaceException when it has holes and there is no room to fill them
   */
  @Override
  public PersistentMemory open(String name) throws IOException {
    require(name);
    return opened(name, MappedFile.map(directory, name, kind));
  }

  /**
   * {@inheritDoc} The name keeps leading to the same file, because readers have that file mapped.
   */
  @Override
  public void lengthen(String name, long length) throws IOException {
    require(name);
    assert !opened.containsValue(name) : name + " is open here and is to become longer";
    MappedFile.lengthen(directory, name, length, kind);
  }

  private SegmentMemory opened(String name, SegmentMemory memory) {
    memory.onClose(() -> {
      opened.remove(memory);
      readAhead.unmapped(memory);
    });
    opened.put(memory, name);
    if (kind == MappedFile.Kind.PAGE_CACHE) {
      readAhead.mapped(memory);
    }
    return memory;
  }

  @Override
  public void delete(String name) throws IOException {
    require(name);
    directory.delete(name);
  }

  /**
   * {@inheritDoc} Memories that this directory opened as {@code from} get a new {@link Backing}.
   */
  @Override
  public void rename(String from, String to) throws IOException {
    require(from);
    require(to);
    directory.rename(from, to);
    opened.forEach((memory, name) -> {
      if (name.equals(from)) {
        opened.replace(memory, to);
        memory.renamed(new Backing(directory.file(to), 0, memory.segment().byteSize(), directory));
      }
    });
  }

  @Override
  public boolean exists(String name) {
    require(name);
    return directory.isFile(name);
  }

  /** {@inheritDoc} Files with other names, and directories, are not listed. */
  @Override
  public List<String> names() throws IOException {
    requireOpen();
    return directory.memories();
  }

  /** Waits for the device only when {@link Survives#POWER_FAILURE} is promised. */
  @Override
  public void sync() throws IOException {
    requireOpen();
    if (survives() == Survives.POWER_FAILURE) {
      syncNames();
    }
  }

  @Override
  public void syncNames() throws IOException {
    requireOpen();
    directory.sync();
  }

  @Override
  public boolean lock() throws IOException {
    requireOpen();
    if (!locked) {
      int result = Libc.flock(directory.descriptor());
      if (Errno.EAGAIN.is(result)) {
        return false;
      }
      FileErrors.check("flock", result, directory.path());
      locked = true;
    }
    return true;
  }

  private MappedFile.Kind kind(Mode mode) {
    return mode == Mode.SYNCED && inMemory == null
        ? MappedFile.Kind.SYNCED
        : MappedFile.Kind.PAGE_CACHE;
  }

  @Override
  public int boot() {
    return MappedFile.boot();
  }

  @Override
  public Survives survives() {
    return kind.survives();
  }

  /**
   * {@inheritDoc} On a disk both promises are possible; on DAX, and on a file system in memory,
   * nothing changes.
   */
  @Override
  public Survives promise(Survives wanted) {
    requireOpen();
    if (kind != MappedFile.Kind.DAX) {
      MappedFile.Kind asked =
          kind(wanted == Survives.POWER_FAILURE ? Mode.SYNCED : Mode.PAGE_CACHE);
      if (asked != kind && !opened.isEmpty()) {
        throw new IllegalStateException("open with another promise: " + opened.values());
      }
      kind = asked;
    }
    return survives();
  }

  @Override
  public String transience() {
    return directory + " is on " + inMemory + ", which is gone when the machine stops";
  }

  /**
   * Calls fsync(2) for every file, for the directory, and for the directories above it in its file
   * system.
   */
  @Override
  public void makeDurable() throws IOException {
    requireOpen();
    if (survives() == Survives.POWER_FAILURE) {
      for (String name : names()) {
        sync(name);
      }
      sync();
      DirectoryWay.syncAbove(directory.path(), directory.descriptor());
    }
  }

  /**
   * Writes every file once more, and waits until the device has taken it. This saves pages that the
   * kernel failed to write, as long as they are still in memory, where they have their only copy.
   * The caller sees to it that no process stores into a file of the directory meanwhile.
   *
   * @param spare the name of a file of {@link #SPARE_BYTES} bytes that is not written, and keeps
   *     what is being written for {@link #putBack}
   * @return how many bytes were written
   * @throws OutOfSpaceException when there is no room for them
   * @throws IOException naming call and file, when the device does not take them
   */
  public long writeAgain(String spare) throws IOException {
    require(spare);
    return SecondWrite.of(directory, spare);
  }

  /**
   * Stores durably what a {@link #writeAgain} that was cut short, by a kill or by a loss of power,
   * was writing. Does nothing when it was writing nothing.
   *
   * @param spare the name of the file that was given to it
   * @throws IOException naming call and file, when the device does not take it
   */
  public void putBack(String spare) throws IOException {
    require(spare);
    SecondWrite.putBack(directory, spare);
  }

  /** Waits until the device has the bytes of a file, whatever is promised. */
  public void sync(String name) throws IOException {
    require(name);
    int opened = directory.open(name, false);
    try {
      directory.sync(opened, name);
    } finally {
      Libc.close(opened);
    }
  }

  @Override
  public void close() {
    closed = true;
    if (!released) {
      List.copyOf(opened.keySet()).forEach(SegmentMemory::close);
      directory.close();
      released = true;
    }
  }

  private void require(String name) {
    requireOpen();
    MemoryDirectory.requireName(name);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("closed: " + directory);
    }
  }

  @Override
  public String toString() {
    return directory + " (" + kind + ")";
  }
}
