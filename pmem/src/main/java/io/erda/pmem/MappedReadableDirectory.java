package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A directory of this host, whose files are mapped read-only. It needs only the right to pass the
 * directory and to read the files, but not to list the directory or to write anything.
 */
public final class MappedReadableDirectory implements ReadableDirectory {
  private final OpenDirectory directory;
  private final List<Mapping> opened = new ArrayList<>();
  private final ReadAhead readAhead = new ReadAhead();
  private boolean closed;

  private MappedReadableDirectory(OpenDirectory directory) {
    this.directory = directory;
  }

  /**
   * Opens the directory, but none of its files.
   *
   * @throws java.nio.file.NoSuchFileException when there is none
   * @throws java.nio.file.NotDirectoryException when the path is that of something else
   * @throws java.nio.file.AccessDeniedException when this user may not get there
   */
  public static MappedReadableDirectory open(Path directory) throws IOException {
    return new MappedReadableDirectory(OpenDirectory.openToPass(directory));
  }

  @Override
  public ReadableFile open(String name) throws IOException {
    MemoryDirectory.requireName(name);
    Mapping mapping = Uninterrupted.call(() -> map(name));
    opened.add(mapping);
    readAhead.mapped(mapping);
    return mapping;
  }

  @Override
  public void shareWithWriters(String name) throws IOException {
    if (!directory.isOfLayers()) {
      return;
    }
    try {
      Libc.close(directory.open(name, true));
    } catch (NoSuchFileException e) {
      throw e;
    } catch (FileSystemException e) {
      // Without the right to write, this user reads the file from the layer where it is.
    }
  }

  private Mapping map(String name) throws IOException {
    Path path = directory.file(name);
    int descriptor = directory.open(name, false);
    try {
      FileStatus status = FileStatus.of(descriptor, path);
      if (status.bytes() == 0) {
        throw new NotAMemoryException(path, "cannot be mapped: it is empty");
      }
      MappingLimit.OF_PROCESS.require(path);
      Arena arena = Arena.ofShared();
      boolean done = false;
      try {
        MemorySegment memory =
            OpenDirectory.withChannel(
                descriptor,
                false,
                channel -> channel.map(MapMode.READ_ONLY, 0, status.bytes(), arena));
        done = true;
        return new Mapping(name, status, arena, memory);
      } catch (IOException e) {
        throw UnmappedException.of(path, e);
      } finally {
        if (!done) {
          MappedArena.close(arena);
        }
      }
    } finally {
      Libc.close(descriptor);
    }
  }

  @Override
  public int boot() {
    return MappedFile.boot();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      List.copyOf(opened).forEach(Mapping::close);
      directory.close();
    }
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
    private final FileStatus file;
    private final Arena arena;
    private final MemorySegment memory;
    private final long address;
    private final long length;
    private boolean closed;

    Mapping(String name, FileStatus file, Arena arena, MemorySegment memory) {
      this.name = name;
      this.file = file;
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
      assert (offset & 7) == 0 : name + ": a word at " + offset;
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

    /**
     * Checks that the range lies within the mapping, and that the mapping was not closed; only
     * {@link #close} releases it.
     */
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
        FileStatus now = directory.status(name);
        return now != null && now.isSameAs(file) && directory.strayed() == null;
      } catch (IOException e) {
        return false;
      }
    }

    @Override
    public String loss() {
      try {
        FileStatus now = directory.status(name);
        return now != null && now.isSameAs(file) && now.bytes() < length
            ? "%s was shortened while it was in use: it has %d of %d bytes"
                .formatted(name, now.bytes(), length)
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
        MappedArena.close(arena);
      }
    }
  }
}
