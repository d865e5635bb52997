package io.erda.pmem;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * A directory of this host, whose files are mapped read-only. It needs the right to pass the
 * directory and to read the files, no more: not to list the directory, nor to write anything.
 */
public final class MappedReadableDirectory implements ReadableDirectory {
  private final Path directory;
  private final List<Mapping> opened = new ArrayList<>();
  private final ReadAhead readAhead = new ReadAhead();

  /** Looks at nothing yet. */
  public MappedReadableDirectory(Path directory) {
    this.directory = directory.toAbsolutePath();
  }

  @Override
  public ReadableFile open(String name) throws IOException {
    MemoryDirectory.requireName(name);
    Mapping mapping = Uninterrupted.call(() -> map(name));
    opened.add(mapping);
    readAhead.mapped(mapping);
    return mapping;
  }

  /** A name that becomes another file's while it is opened is opened again. */
  private Mapping map(String name) throws IOException {
    Path path = directory.resolve(name);
    while (true) {
      BasicFileAttributes before = attributes(path);
      if (!before.isRegularFile()) {
        throw new FileSystemException(path.toString(), null, "not a regular file");
      }
      try (FileChannel channel =
          FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
        long length = channel.size();
        if (length == 0) {
          throw new FileSystemException(path.toString(), null, "cannot be mapped: it is empty");
        }
        if (attributes(path).fileKey().equals(before.fileKey())) {
          Arena arena = Arena.ofShared();
          boolean done = false;
          try {
            MemorySegment memory = channel.map(MapMode.READ_ONLY, 0, length, arena);
            done = true;
            return new Mapping(name, path, before.fileKey(), arena, memory);
          } finally {
            if (!done) {
              arena.close();
            }
          }
        }
      }
    }
  }

  private static BasicFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public int boot() {
    return MappedFile.boot();
  }

  @Override
  public void close() {
    List.copyOf(opened).forEach(Mapping::close);
  }

  @Override
  public String toString() {
    return directory + " (read only)";
  }

  private final class Mapping implements ReadableFile, ReadAhead.Mapping {
    private static final ValueLayout.OfLong WORD =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle ALIGNED =
        ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final String name;
    private final Path path;
    private final Object key;
    private final Arena arena;
    private final MemorySegment memory;
    private final long address;
    private final long length;
    private boolean closed;

    Mapping(String name, Path path, Object key, Arena arena, MemorySegment memory) {
      this.name = name;
      this.path = path;
      this.key = key;
      this.arena = arena;
      this.memory = memory;
      this.address = memory.address();
      this.length = memory.byteSize();
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public MemorySegment memory() {
      return memory;
    }

    @Override
    public long word(long offset) {
      require(offset, Long.BYTES);
      return (long) ALIGNED.getAcquire(UncheckedMemory.ALL, at(offset) & -Long.BYTES);
    }

    @Override
    public void load(long offset, MemorySegment to, long toOffset, int bytes) {
      require(offset, bytes);
      readAhead.loading(memory, offset, bytes);
      if (((offset | bytes) & 7) == 0) {
        MemorySegment.copy(UncheckedMemory.ALL, at(offset), to, toOffset, bytes);
      } else {
        WordCopy.copy(memory, offset, to, toOffset, bytes);
      }
      VarHandle.acquireFence();
    }

    @Override
    public long glimpse(long offset) {
      require(offset, Long.BYTES);
      return UncheckedMemory.ALL.get(WORD, at(offset));
    }

    /** The mapping is this object's own, and is released by nobody else. */
    private void require(long offset, int bytes) {
      if (closed || offset < 0 || bytes < 0 || bytes > length - offset) {
        throw new IndexOutOfBoundsException(
            name
                + ": "
                + bytes
                + " bytes at "
                + offset
                + " of "
                + length
                + (closed ? ", closed" : ""));
      }
    }

    private long at(long offset) {
      return address + offset & UncheckedMemory.ADDRESS;
    }

    @Override
    public boolean isCurrent() {
      try {
        return attributes(path).fileKey().equals(key);
      } catch (IOException e) {
        return false;
      }
    }

    @Override
    public String loss() {
      try {
        BasicFileAttributes now = attributes(path);
        return now.fileKey().equals(key) && now.size() < length
            ? "%s was shortened while it was in use: it has %d of %d bytes"
                .formatted(name, now.size(), length)
            : null;
      } catch (IOException e) {
        return null;
      }
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        opened.remove(this);
        readAhead.unmapped(this);
        arena.close();
      }
    }
  }
}
