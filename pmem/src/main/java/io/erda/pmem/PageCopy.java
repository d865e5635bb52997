package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Copies bytes into memory that may be a mapped file, one page of it after another, so that no
 * store of the processor lies in two pages. Bulk stores to mapped files go through this class, but
 * for those to places that a layout keeps within one page.
 *
 * <p>A bulk copy of the JDK stores up to 64 bytes with one instruction, wherever that lies, and the
 * kernel makes both pages of a store that crosses into the next page writable before the store is
 * made. On a btrfs with room for one page only it can't: it reserves a page for the first, and to
 * reserve another for the second it writes the first back, which is then not writable any more. The
 * thread takes these two page faults for as long as there is no other room, and reaches no
 * safepoint, so that its JVM ends by SIGKILL only. {@code testbed/full-disks btrfs-page} shows it.
 */
public final class PageCopy {
  private static final long PAGE_BYTES = 4096;

  private PageCopy() {}

  /**
   * Copies {@code length} bytes. Source and destination do not overlap. Both ranges are checked
   * before the first store.
   *
   * @throws IndexOutOfBoundsException when a range does not lie in its segment
   */
  public static void copy(
      MemorySegment source, long from, MemorySegment target, long to, long length) {
    long room = PAGE_BYTES - (target.address() + to & PAGE_BYTES - 1);
    if (length <= room) {
      MemorySegment.copy(source, from, target, to, length);
    } else {
      byPage(source, from, target, to, length, room);
    }
  }

  private static void byPage(
      MemorySegment source, long from, MemorySegment target, long to, long length, long room) {
    Objects.checkFromIndexSize(from, length, source.byteSize());
    Objects.checkFromIndexSize(to, length, target.byteSize());
    long piece = room;
    for (long done = 0; done < length; done += piece, piece = Math.min(PAGE_BYTES, length - done)) {
      MemorySegment.copy(source, from + done, target, to + done, piece);
    }
  }
}
