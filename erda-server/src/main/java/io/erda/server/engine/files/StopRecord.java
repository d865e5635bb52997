package io.erda.server.engine.files;

import io.erda.logstore.LogFiles;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.StopHeader;
import io.erda.protocol.StoreTables;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The record that a server writes at a clean stop: the checksum of every page of root, region table
 * and tables. Objects have checksums of their own, but these files have none: their words are
 * stored one at a time, and a checksum beside each word would cost every put a second store. So the
 * pages have checksums only while no server runs. The next opening removes the record, durably,
 * before it stores into the files.
 *
 * <pre>
 *   0  magic "ERDASTOP" 8 | 8  layout version 4 | 12  CRC32C of the whole file, this field as 0, 4
 *  16  store UUID 16 | 32  incarnation of the root 8 | 40  buckets 8 | 48  table generation 4
 *  52  doubling 4 | 56  files 4 | 60  boot 4
 *      then for each file: name, ASCII, zeros behind it 24 | length 8
 *      | CRC32C of each 4096 bytes, the last ones may be fewer, 4 each | zeros to a multiple of 8
 * </pre>
 */
public final class StopRecord {
  private static final int PAGE_BYTES = 4096;
  private static final int HEADER_BYTES = StopHeader.BYTES;
  private static final int NAME_BYTES = 24;
  private static final int FILE_HEADER_BYTES = NAME_BYTES + Long.BYTES;
  private static final int BOOT_OFFSET = 60;

  /** Mapped memory is read through buffers of at most this many bytes. */
  private static final long WINDOW_BYTES = 1 << 30;

  /** The most differences that are reported individually. */
  private static final int TOLD_MAX = 100;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The result of comparing a record with the store in which it was found. */
  public enum State {
    /**
     * There is no record: the store was not stopped cleanly, or was stopped by a program that
     * writes no record.
     */
    NONE,
    /** The record proves nothing: it is damaged, of another store, or of an earlier stop. */
    USELESS,
    /** The covered files are as they were when the store was stopped. */
    PROVEN,
    /** A covered file differs from its state when the store was stopped. */
    DIFFERS
  }

  /**
   * The result of comparing a record with the store.
   *
   * @param words the differences, or why the record proves nothing; one sentence each
   */
  public record Verdict(State state, List<String> words) {}

  /**
   * Writes the record of the store's present state. Nothing may be stored in the store afterwards.
   */
  public static void write(MemoryDirectory directory, Superblock superblock, long incarnation)
      throws IOException {
    List<MemorySegment> files = new ArrayList<>();
    long bytes = HEADER_BYTES;
    for (String name : covered(superblock)) {
      MemorySegment file = file(directory, name);
      files.add(file);
      bytes += file.byteSize();
    }
    MemorySegment record = MemorySegment.ofArray(new long[Math.toIntExact(bytes / Long.BYTES)]);
    record.set(LONG, 0, StopHeader.MAGIC);
    record.set(INT, StopHeader.VERSION_OFFSET, StopHeader.LAYOUT_VERSION);
    record.set(LONG, 16, superblock.store().getMostSignificantBits());
    record.set(LONG, 24, superblock.store().getLeastSignificantBits());
    record.set(LONG, 32, incarnation);
    record.set(LONG, 40, superblock.tables().buckets());
    record.set(INT, 48, superblock.tables().generation());
    record.set(INT, 52, superblock.tables().code());
    record.set(INT, 56, files.size());
    record.set(INT, BOOT_OFFSET, boot(directory));
    long at = HEADER_BYTES;
    for (MemorySegment file : files) {
      MemorySegment.copy(file, 0, record, at, file.byteSize());
      at += file.byteSize();
    }
    record.set(INT, StopHeader.CHECKSUM_OFFSET, StopHeader.checksum(record));
    store(directory, record);
  }

  /**
   * Returns the boot of the machine in which the record is valid. The record of a store that
   * survives power failures is valid in every boot. Any other store may lose the record or parts of
   * the table by a power failure, which is no damage; after another boot it opens as without a
   * record.
   */
  private static int boot(MemoryDirectory directory) {
    return directory.survives() == Survives.POWER_FAILURE ? 0 : directory.boot();
  }

  /**
   * Stores a record under a temporary name and renames it, so that a record with the right name is
   * whole, unless power failed and the store does not survive that.
   */
  static void store(MemoryDirectory directory, MemorySegment record) throws IOException {
    if (directory.exists(StoreFiles.STOPPED_NEW)) {
      directory.delete(StoreFiles.STOPPED_NEW);
    }
    boolean done = false;
    try {
      try (PersistentMemory memory = directory.create(StoreFiles.STOPPED_NEW, record.byteSize())) {
        memory.put(0, record, 0, record.byteSize());
        memory.flush(0, record.byteSize());
        memory.drain();
      }
      directory.sync();
      directory.rename(StoreFiles.STOPPED_NEW, StoreFiles.STOPPED);
      done = true;
      directory.sync();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    } finally {
      if (!done) {
        directory.delete(StoreFiles.STOPPED_NEW);
      }
    }
  }

  private static List<String> covered(Superblock superblock) {
    List<String> names = new ArrayList<>(List.of(StoreFiles.ROOT, LogFiles.REGIONS));
    names.add(StoreFiles.table(superblock.tables().generation()));
    if (superblock.tables().resizing()) {
      names.add(StoreFiles.table(superblock.tables().nextGeneration()));
    }
    return names;
  }

  /** Returns the part of a record for one file. */
  private static MemorySegment file(MemoryDirectory directory, String name) throws IOException {
    try (PersistentMemory memory = directory.open(name)) {
      long length = memory.segment().byteSize();
      // Some words, such as the root's counter, are stored without a flush. They are flushed here,
      // because a power failure must not lose the values that the record proves.
      memory.flush(0, length);
      memory.drain();
      MemorySegment part = MemorySegment.ofArray(new long[Math.toIntExact(partBytes(length) / 8)]);
      byte[] nameBytes = name.getBytes(StandardCharsets.US_ASCII);
      MemorySegment.copy(nameBytes, 0, part, ValueLayout.JAVA_BYTE, 0, nameBytes.length);
      part.set(LONG, NAME_BYTES, length);
      checksums(
          memory.segment(),
          (page, checksum) -> part.set(INT, FILE_HEADER_BYTES + 4 * page, checksum));
      return part;
    }
  }

  private static long partBytes(long length) {
    return FILE_HEADER_BYTES + ((pages(length) * 4 + 7) & -8);
  }

  private static long pages(long length) {
    return (length + PAGE_BYTES - 1) / PAGE_BYTES;
  }

  private interface PageVisitor {
    void page(long page, int checksum);
  }

  private static void checksums(MemorySegment memory, PageVisitor visitor) {
    CRC32C crc = new CRC32C();
    for (long window = 0; window < memory.byteSize(); window += WINDOW_BYTES) {
      long bytes = Math.min(WINDOW_BYTES, memory.byteSize() - window);
      ByteBuffer buffer = memory.asSlice(window, bytes).asByteBuffer();
      for (int at = 0; at < bytes; at += PAGE_BYTES) {
        buffer.limit((int) Math.min(bytes, at + PAGE_BYTES)).position(at);
        crc.reset();
        crc.update(buffer);
        visitor.page((window + at) / PAGE_BYTES, (int) crc.getValue());
      }
    }
  }

  /**
   * Compares the record of a store, if there is one, with the store. Changes nothing.
   *
   * @throws IOException when the record, or a file that it covers, exists and can't be read; this
   *     is no statement about its content
   */
  public static Verdict check(MemoryDirectory directory, Superblock superblock, long incarnation)
      throws IOException {
    try (PersistentMemory memory = directory.open(StoreFiles.STOPPED)) {
      return check(directory, memory.segment(), superblock, incarnation);
    } catch (NoSuchFileException e) {
      return new Verdict(State.NONE, List.of());
    } catch (NotAMemoryException e) {
      // The file is too short to be mapped, or no regular file.
      return new Verdict(
          State.USELESS, List.of(StoreFiles.STOPPED + " can't be read: " + e.getMessage()));
    }
  }

  /** As {@link #check(MemoryDirectory, Superblock, long)}, for a given record. */
  public static Verdict check(
      MemoryDirectory directory, MemorySegment record, Superblock superblock, long incarnation)
      throws IOException {
    String useless = StopHeader.useless(record, superblock.store(), incarnation);
    if (useless != null) {
      return new Verdict(State.USELESS, List.of(StoreFiles.STOPPED + ": " + useless));
    }
    if (!isWhole(record)) {
      return new Verdict(
          State.USELESS, List.of(StoreFiles.STOPPED + ": names what can't be files of a store"));
    }
    Differences differences = new Differences();
    compareSuperblock(record, superblock, differences);
    long at = HEADER_BYTES;
    for (int i = 0; i < record.get(INT, 56); i++) {
      at += compareFile(directory, record.asSlice(at), differences);
    }
    int boot = record.get(INT, BOOT_OFFSET);
    if (!differences.words.isEmpty() && boot != 0 && boot != directory.boot()) {
      List<String> words = new ArrayList<>();
      words.add(
          "the machine was started anew since the store was stopped, which did not promise to"
              + " survive power failure, and something is not what it was then");
      words.addAll(differences.words());
      return new Verdict(State.USELESS, words);
    }
    return new Verdict(
        differences.words.isEmpty() ? State.PROVEN : State.DIFFERS, differences.words());
  }

  private static void compareSuperblock(
      MemorySegment record, Superblock superblock, Differences differences) {
    StoreTables tables = superblock.tables();
    String says = says(tables.generation(), tables.buckets(), tables.code());
    String said = says(record.get(INT, 48), record.get(LONG, 40), record.get(INT, 52));
    if (!says.equals(said)) {
      differences.add(StoreFiles.SUPERBLOCK + " says " + says + ", it said " + said);
    }
  }

  private static String says(int generation, long buckets, int code) {
    return "table "
        + generation
        + " of "
        + buckets
        + " buckets"
        + (code == 0 ? "" : code == 1 ? ", which is being doubled" : ", which is being halved");
  }

  /** Whether the record has a part for each file, with names and lengths that files can have. */
  private static boolean isWhole(MemorySegment record) {
    long at = HEADER_BYTES;
    int files = record.get(INT, 56);
    for (int i = 0; i < files; i++) {
      if (record.byteSize() - at < FILE_HEADER_BYTES) {
        return false;
      }
      MemorySegment part = record.asSlice(at);
      long length = part.get(LONG, NAME_BYTES);
      boolean fits =
          length >= 0
              && length / PAGE_BYTES <= part.byteSize() / Integer.BYTES
              && partBytes(length) <= part.byteSize();
      if (!fits || !MemoryDirectory.isName(name(part))) {
        return false;
      }
      at += partBytes(length);
    }
    return files >= 0;
  }

  private static String name(MemorySegment part) {
    byte[] bytes = part.asSlice(0, NAME_BYTES).toArray(ValueLayout.JAVA_BYTE);
    return new String(bytes, StandardCharsets.US_ASCII).trim();
  }

  /** Returns the bytes of the file's part of the record. */
  private static long compareFile(
      MemoryDirectory directory, MemorySegment part, Differences differences) throws IOException {
    String name = name(part);
    long length = part.get(LONG, NAME_BYTES);
    try (PersistentMemory memory = directory.open(name)) {
      long actual = memory.segment().byteSize();
      if (actual != length) {
        differences.add(name + " has " + actual + " bytes, it had " + length);
      }
      differences.begin(name, length);
      long whole = Math.min(length, actual);
      checksums(
          memory.segment().asSlice(0, whole),
          (page, checksum) -> {
            if (part.get(INT, FILE_HEADER_BYTES + 4 * page) != checksum) {
              differences.page(page);
            }
          });
      differences.end();
    } catch (NoSuchFileException e) {
      differences.add(name + " is missing");
    } catch (NotAMemoryException e) {
      differences.add(name + ": " + e.getReason());
    }
    return partBytes(length);
  }

  /** Collects differences. Adjacent pages that differ count as one difference. */
  private static final class Differences {
    final List<String> words = new ArrayList<>();
    private long count;
    private String name;
    private long length;
    private long first = -1;
    private long last;

    void add(String what) {
      count++;
      if (words.size() < TOLD_MAX) {
        words.add(what);
      }
    }

    void begin(String file, long fileLength) {
      name = file;
      length = fileLength;
    }

    void page(long page) {
      if (first >= 0 && page == last + 1) {
        last = page;
        return;
      }
      end();
      first = page;
      last = page;
    }

    void end() {
      if (first >= 0) {
        add(
            "%s: bytes %d to %d are not what they were"
                .formatted(
                    name, first * PAGE_BYTES, Math.min(length, (last + 1) * PAGE_BYTES) - 1));
      }
      first = -1;
    }

    List<String> words() {
      if (count > words.size()) {
        words.add((count - words.size()) + " more places differ");
      }
      return List.copyOf(words);
    }
  }

  /**
   * Removes the record. The removal is durable even if the store does not survive power failures,
   * because with a record that reappeared later changes would be reported as damage.
   */
  public static void remove(MemoryDirectory directory) throws IOException {
    if (directory.exists(StoreFiles.STOPPED_NEW)) {
      directory.delete(StoreFiles.STOPPED_NEW);
    }
    if (directory.exists(StoreFiles.STOPPED)) {
      directory.delete(StoreFiles.STOPPED);
      directory.syncNames();
    }
  }

  private StopRecord() {}
}
