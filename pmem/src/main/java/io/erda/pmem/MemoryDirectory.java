package io.erda.pmem;

import java.io.IOException;
import java.util.List;

/**
 * Named persistent memories: a directory of files, or its simulation.
 *
 * <p>Names are plain file names of {@code [a-z0-9.-]}. One owner at a time: {@link #lock()}.
 * Creation and deletion survive a process crash at once; they survive power failure after {@link
 * #sync()}. Not thread-safe.
 */
public interface MemoryDirectory extends AutoCloseable {
  /**
   * Creates a memory of {@code length} zero bytes whose space is allocated: no later store fails
   * for lack of it.
   *
   * @throws OutOfSpaceException when the file system has no room or a limit forbids it; nothing is
   *     left behind
   * @throws IOException when the name exists, or for another error of the file system
   */
  PersistentMemory create(String name, long length) throws IOException;

  /**
   * Begins a {@link #create} that is done in steps. When the file system allows no steps, the first
   * step does all. The name appears with the last step.
   */
  default Creation creating(String name, long length) throws IOException {
    return new Creation() {
      @Override
      public PersistentMemory step() throws IOException {
        return create(name, length);
      }

      @Override
      public void close() {}
    };
  }

  /**
   * Opens an existing memory at its full length.
   *
   * @throws java.nio.file.NoSuchFileException when there is none
   */
  PersistentMemory open(String name) throws IOException;

  /**
   * Makes a memory longer. The new bytes are zeros whose space is allocated. After a crash the
   * memory may have any length in between. The length survives power failure where that is
   * promised.
   *
   * <p>REQUIRES: this process does not have the memory open. Mappings of the file by other
   * processes stay valid and show the same bytes.
   *
   * @param length the new length, bytes; not less than the present length
   * @throws OutOfSpaceException when there is no room; the memory may be longer than before then
   */
  default void lengthen(String name, long length) throws IOException {
    String longer = name + ".longer";
    if (exists(longer)) {
      delete(longer);
    }
    try (PersistentMemory from = open(name);
        PersistentMemory to = create(longer, length)) {
      long bytes = from.segment().byteSize();
      to.put(0, from.segment(), 0, bytes);
      to.flush(0, bytes);
      to.drain();
    }
    sync();
    rename(longer, name);
    sync();
  }

  /**
   * Unlinks a name. Existing mappings, of any process, stay valid and show the old bytes. It is no
   * error when the name does not exist.
   */
  void delete(String name) throws IOException;

  /**
   * Renames the memory {@code from} to {@code to}, in one step. A memory that had the name {@code
   * to} is replaced.
   */
  void rename(String from, String to) throws IOException;

  /**
   * Returns a number that changes with each start of the machine, and so after each power failure;
   * 0 when it is unknown.
   */
  default int boot() {
    return 0;
  }

  /**
   * Whether the name exists.
   *
   * @throws java.io.UncheckedIOException when that can't be determined
   */
  boolean exists(String name);

  /** All names, sorted. */
  List<String> names() throws IOException;

  /**
   * Makes all creations, renames and deletions so far survive the failure that {@link #survives()}
   * names.
   */
  void sync() throws IOException;

  /**
   * Makes creations, renames and deletions so far survive power failure where the device can do
   * that, even if the directory promises less. Waits for the device.
   */
  default void syncNames() throws IOException {
    sync();
  }

  /**
   * Locks the directory for one owner, until {@link #close()} or the end of the process.
   *
   * @return false when another owner has it
   */
  boolean lock() throws IOException;

  /**
   * Returns how many bytes are free for further memories, as far as that is known. Other programs
   * may take the space too. Costs a system call.
   */
  default long usableBytes() {
    return Long.MAX_VALUE;
  }

  /**
   * Whether a missing page is read without its neighbours now, because the open memories do not fit
   * into the machine's memory: see {@link ReadAhead}.
   */
  default boolean readsAlone() {
    return false;
  }

  /** The promise of every memory of this directory that is opened from now on. */
  Survives survives();

  /**
   * Chooses the promise of memories that are created or opened from now on. A directory takes a
   * stronger promise than {@code wanted} if that costs nothing, and a weaker one if it can't give
   * {@code wanted}. REQUIRES: no memory is open. Changes no file.
   *
   * @return {@link #survives()} from now on
   */
  default Survives promise(Survives wanted) {
    return survives();
  }

  /**
   * Returns in words why no memory of this directory survives power failure, when {@link #promise}
   * gave less than was wanted.
   */
  default String transience() {
    return "no disk holds them";
  }

  /**
   * Makes all contents of the directory survive the failure that {@link #survives()} names: the
   * bytes of every memory, their names, and the path to this directory. Another process may have
   * left all of these in the page cache. Waits for the device; does nothing when only a process
   * crash has to be survived.
   */
  void makeDurable() throws IOException;

  /** Closes all memories of this directory that are still open, and releases the lock. */
  @Override
  void close();

  /**
   * Checks that {@code name} may name a memory: 1 to 255 characters of {@code [a-z0-9.-]}, not
   * {@code .} or {@code ..}.
   *
   * @throws IllegalArgumentException when it may not
   */
  static void requireName(String name) {
    if (!isName(name)) {
      throw new IllegalArgumentException(
          "not a name of 1 to 255 characters of [a-z0-9.-]: \"" + name + "\"");
    }
  }

  /** Whether {@link #requireName} accepts {@code name}. */
  static boolean isName(String name) {
    if (name.isEmpty() || name.length() > 255 || name.equals(".") || name.equals("..")) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (!(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-')) {
        return false;
      }
    }
    return true;
  }

  /**
   * Checks that a memory may be {@code length} bytes long.
   *
   * @throws IllegalArgumentException when it is less than 1
   */
  static void requireLength(long length) {
    if (length < 1) {
      throw new IllegalArgumentException("a memory of " + length + " bytes");
    }
  }
}
