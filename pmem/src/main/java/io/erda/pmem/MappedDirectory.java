package io.erda.pmem;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A directory of files, each mapped whole into this process and into every other that wants it.
 *
 * <p>What a memory survives is found out when the directory is opened: on a file system with {@code
 * MAP_SYNC} (DAX on persistent memory) it is power failure, whatever the {@link Mode}; elsewhere
 * the mode decides, except on a file system that lives in memory (tmpfs, ramfs), where it is a
 * process crash and no more. A memory controller is taken for the edge of the persistence domain,
 * so there a store is visible before it is durable.
 *
 * <p>The space of a file is allocated before its name exists and again, where a copy left holes,
 * before it is mapped. So storing does not fail and raises no SIGBUS, unless somebody truncates a
 * file, the device breaks, or a file system that copies on write runs full.
 *
 * <p>Needs Linux. The lock is flock(2) on the directory itself: it leaves no file, the kernel
 * releases it when the process ends, and two openings in one process exclude each other too.
 */
public final class MappedDirectory implements MemoryDirectory {
  /** The promise of a directory on a file system without {@code MAP_SYNC}. */
  public enum Mode {
    /**
     * {@link Survives#PROCESS_CRASH}: stores reach the page cache and are left there; flush and
     * drain cost nothing.
     */
    PAGE_CACHE,
    /**
     * {@link Survives#POWER_FAILURE}: drain writes what was flushed to the device with msync(2),
     * which takes as long as that takes.
     */
    SYNCED
  }

  private final Path directory;

  /** How files are mapped. Except on DAX, it may change before the first file is opened. */
  private MappedFile.Kind kind;

  /** The name of the file system where it is one that lives in memory; null elsewhere. */
  private final String inMemory;

  private final int descriptor;
  private final Map<SegmentMemory, String> opened = new ConcurrentHashMap<>();
  private final ReadAhead readAhead;
  private boolean locked;
  private boolean closed;

  private MappedDirectory(
      Path directory, boolean dax, Mode mode, int descriptor, ReadAhead readAhead) {
    this.readAhead = readAhead;
    this.directory = directory;
    this.inMemory = MappedFile.inMemory(descriptor);
    this.kind = dax ? MappedFile.Kind.DAX : kind(mode);
    this.descriptor = descriptor;
  }

  /** {@link #open(Path, Mode)} with {@link Mode#PAGE_CACHE}. */
  public static MappedDirectory open(Path directory) throws IOException {
    return open(directory, Mode.PAGE_CACHE);
  }

  /**
   * Opens a directory that exists and can be written. Creates and changes nothing in it.
   *
   * @throws NoSuchFileException when there is none
   * @throws NotDirectoryException when it is something else
   * @throws java.nio.file.AccessDeniedException when it cannot be written
   */
  public static MappedDirectory open(Path directory, Mode mode) throws IOException {
    return open(directory, mode, new ReadAhead());
  }

  static MappedDirectory open(Path directory, Mode mode, ReadAhead readAhead) throws IOException {
    Path absolute = directory.toAbsolutePath();
    int flags = Libc.O_RDONLY | Libc.O_DIRECTORY;
    int descriptor = Libc.check("open", Libc.open(absolute, flags), absolute);
    boolean done = false;
    try {
      boolean dax = MappedFile.isDax(absolute);
      done = true;
      return new MappedDirectory(absolute, dax, mode, descriptor, readAhead);
    } finally {
      if (!done) {
        Libc.close(descriptor);
      }
    }
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    MemoryDirectory.requireLength(length);
    Path file = file(name);
    MappedFile.create(file, length, kind);
    boolean done = false;
    try {
      PersistentMemory memory = open(name);
      done = true;
      return memory;
    } finally {
      if (!done) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Override
  public long usableBytes() {
    return MappedFile.usableBytes(directory);
  }

  @Override
  public boolean readsAlone() {
    return readAhead.isAlone();
  }

  @Override
  public Creation creating(String name, long length) throws IOException {
    MemoryDirectory.requireLength(length);
    Path file = file(name);
    return new MappedCreation(
        file, length, kind, () -> opened(name, MappedFile.mapFilled(file, length, kind)));
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.nio.file.FileSystemException also when the file is empty, or no regular file
   * @throws OutOfSpaceException when it has holes and there is no room to fill them
   */
  @Override
  public PersistentMemory open(String name) throws IOException {
    return opened(name, MappedFile.map(file(name), kind));
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
    Files.deleteIfExists(noDirectory(file(name)));
  }

  /** {@inheritDoc} The {@link Backing} of what this directory opened as {@code from} follows. */
  @Override
  public void rename(String from, String to) throws IOException {
    Path target = file(to);
    Files.move(noDirectory(file(from)), target, StandardCopyOption.ATOMIC_MOVE);
    opened.forEach((memory, name) -> {
      if (name.equals(from)) {
        opened.replace(memory, to);
        memory.renamed(new Backing(target, 0, memory.segment().byteSize()));
      }
    });
  }

  @Override
  public boolean exists(String name) {
    return Files.isRegularFile(file(name));
  }

  /** {@inheritDoc} Files with other names, and directories, are not listed. */
  @Override
  public List<String> names() throws IOException {
    requireOpen();
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString())
          .filter(MemoryDirectory::isName)
          .sorted()
          .toList();
    }
  }

  /** Waits for the device only where power failure is promised. */
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
    Libc.check("fsync", Libc.fsync(descriptor), directory);
  }

  @Override
  public boolean lock() throws IOException {
    requireOpen();
    if (!locked) {
      int result = Libc.flock(descriptor);
      if (result == -Libc.EAGAIN) {
        return false;
      }
      Libc.check("flock", result, directory);
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

  /** {@inheritDoc} On a disk each can be had; on DAX, and in memory, nothing changes. */
  @Override
  public Survives promise(Survives wanted) {
    requireOpen();
    if (!opened.isEmpty()) {
      throw new IllegalStateException("open with another promise: " + opened.values());
    }
    if (kind != MappedFile.Kind.DAX) {
      kind = kind(wanted == Survives.POWER_FAILURE ? Mode.SYNCED : Mode.PAGE_CACHE);
    }
    return survives();
  }

  @Override
  public String transience() {
    return directory + " is on " + inMemory + ", which is gone when the machine stops";
  }

  /** fsync(2) of every file, of the directory and of those above it in the same file system. */
  @Override
  public void makeDurable() throws IOException {
    requireOpen();
    if (survives() == Survives.POWER_FAILURE) {
      for (String name : names()) {
        sync(file(name));
      }
      sync();
      DirectoryWay.syncAbove(directory, descriptor);
    }
  }

  private static void sync(Path file) throws IOException {
    int opened = Libc.check("open", Libc.open(file, Libc.O_RDONLY), file);
    try {
      Libc.check("fsync", Libc.fsync(opened), file);
    } finally {
      Libc.close(opened);
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      List.copyOf(opened.keySet()).forEach(SegmentMemory::close);
      Libc.close(descriptor);
    }
  }

  private Path file(String name) {
    requireOpen();
    MemoryDirectory.requireName(name);
    return directory.resolve(name);
  }

  private static Path noDirectory(Path file) throws FileSystemException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileSystemException(file.toString(), null, "is a directory, not a memory");
    }
    return file;
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
