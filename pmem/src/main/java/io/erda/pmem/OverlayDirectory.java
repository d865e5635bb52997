package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A directory of files to inspect. Stores, creations, renames and deletions through it happen in
 * the memory of this process alone, and are gone when it is closed. Permission to read is enough,
 * and so is a file system that is mounted read-only.
 *
 * <p>Each file is mapped privately, so a page costs memory of its own from the first store to it
 * on. Until then, stores of other processes to the page are seen. {@link #lock()} is shared: it
 * excludes owners ({@link MappedDirectory#lock()}), not other inspectors.
 *
 * <p>Gives any promise that is wanted, so that a store runs the same code as over the files. The
 * stores are lost at the end in any case, so a failure can destroy nothing.
 */
public final class OverlayDirectory implements MemoryDirectory {
  /**
   * A file of the directory, or a memory that was created here. Its bytes are null until it is
   * first opened or created.
   */
  private static final class Layer {
    /** The name of the file in the directory; its name in this view may be another one. */
    final String file;

    MemorySegment bytes;

    Layer(String file) {
      this.file = file;
    }
  }

  private static final class OverlayMemory extends SegmentMemory {
    private final Survives survives;

    OverlayMemory(MemorySegment segment, Arena arena, Survives survives) {
      super(segment, arena, Backing.none(segment.byteSize()));
      this.survives = survives;
    }

    @Override
    public Survives survives() {
      return survives;
    }

    @Override
    public boolean visibleBeforeDurable() {
      return false;
    }
  }

  private final OpenDirectory directory;

  /** The arena of the mappings, which outlive the memories that are opened over them. */
  private final Arena arena = Arena.ofShared();

  private final Set<OverlayMemory> opened = ConcurrentHashMap.newKeySet();

  /**
   * The layers by name; null until first used. An inspector locks the directory before that, so
   * that no owner is at work.
   */
  private TreeMap<String, Layer> layers;

  private Survives survives = Survives.PROCESS_CRASH;
  private boolean locked;
  private boolean closed;

  private OverlayDirectory(OpenDirectory directory) {
    this.directory = directory;
  }

  /**
   * Opens a directory that can be read.
   *
   * @throws NoSuchFileException when there is none
   * @throws java.nio.file.NotDirectoryException when the path is that of something else
   * @throws java.nio.file.AccessDeniedException when it cannot be read
   */
  public static OverlayDirectory open(Path directory) throws IOException {
    return new OverlayDirectory(OpenDirectory.open(directory));
  }

  /** The open directory, which this object closes. */
  public OpenDirectory opened() {
    return directory;
  }

  private TreeMap<String, Layer> layers() throws IOException {
    requireOpen();
    if (layers == null) {
      TreeMap<String, Layer> found = new TreeMap<>();
      directory.memories().forEach(name -> found.put(name, new Layer(name)));
      layers = found;
    }
    return layers;
  }

  private Layer find(String name) throws IOException {
    MemoryDirectory.requireName(name);
    Layer layer = layers().get(name);
    if (layer == null) {
      String file = directory.file(name).toString();
      if (directory.exists(name) && !directory.isFile(name)) {
        throw new NotAMemoryException(directory.file(name), "not a regular file");
      }
      throw new NoSuchFileException(file);
    }
    return layer;
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    Layer layer = find(name);
    if (layer.bytes == null) {
      layer.bytes = map(layer.file);
    }
    return memory(layer);
  }

  private OverlayMemory memory(Layer layer) {
    Arena own = Arena.ofShared();
    MemorySegment segment =
        MemorySegment.ofAddress(layer.bytes.address())
            .reinterpret(layer.bytes.byteSize(), own, unused -> Objects.requireNonNull(layer));
    OverlayMemory memory = new OverlayMemory(segment, own, survives);
    memory.onClose(() -> opened.remove(memory));
    opened.add(memory);
    return memory;
  }

  private MemorySegment map(String name) throws IOException {
    Path file = directory.file(name);
    int opening = directory.open(name, false);
    try {
      long length = FileStatus.of(opening, file).bytes();
      if (length == 0) {
        throw new NotAMemoryException(
            file, "cannot be mapped: it is 0 bytes long, at least 1 is needed");
      }
      // No store goes to the file, and few pages are ever stored to, so the kernel need not reserve
      // memory for all pages.
      int flags = Libc.MAP_PRIVATE | Libc.MAP_NORESERVE;
      long address = Libc.map(0, length, Libc.PROT_READ_WRITE, flags, opening);
      if (address < 0) {
        FileErrors.check("mmap", (int) address, file);
      }
      return MemorySegment.ofAddress(address)
          .reinterpret(length, arena, mapped -> Libc.unmap(mapped.address(), length));
    } finally {
      Libc.close(opening);
    }
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    MemoryDirectory.requireName(name);
    MemoryDirectory.requireLength(length);
    if (layers().containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    Layer layer = new Layer(name);
    try {
      layer.bytes = arena.allocate(length, 4096);
    } catch (OutOfMemoryError e) {
      throw new OutOfSpaceException(name + ": no memory for " + length + " bytes", e);
    }
    layers().put(name, layer);
    return memory(layer);
  }

  @Override
  public void delete(String name) throws IOException {
    MemoryDirectory.requireName(name);
    layers().remove(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    MemoryDirectory.requireName(to);
    Layer layer = find(from);
    layers().remove(from);
    layers().put(to, layer);
  }

  @Override
  public boolean exists(String name) {
    MemoryDirectory.requireName(name);
    try {
      return layers().containsKey(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public List<String> names() throws IOException {
    return List.copyOf(layers().keySet());
  }

  @Override
  public void sync() {
    requireOpen();
  }

  /** Shared with other inspectors; false when an owner has the directory. */
  @Override
  public boolean lock() throws IOException {
    requireOpen();
    if (!locked) {
      int result = Libc.flockShared(directory.descriptor());
      if (Errno.EAGAIN.is(result)) {
        return false;
      }
      FileErrors.check("flock", result, directory.path());
      locked = true;
    }
    return true;
  }

  @Override
  public int boot() {
    return MappedFile.boot();
  }

  @Override
  public Survives survives() {
    return survives;
  }

  @Override
  public Survives promise(Survives wanted) {
    survives = wanted;
    return survives;
  }

  @Override
  public void makeDurable() {
    requireOpen();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      List.copyOf(opened).forEach(SegmentMemory::close);
      MappedArena.close(arena);
      directory.close();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("closed: " + directory);
    }
  }

  @Override
  public String toString() {
    return directory + " (looked at)";
  }
}
