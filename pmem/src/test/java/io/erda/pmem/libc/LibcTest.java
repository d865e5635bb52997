package io.erda.pmem.libc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class LibcTest {
  /** The flags that differ: Linux's asm-generic/fcntl.h, and those of Arm and POWER. */
  @Test
  void theFlagsOfOpenAreTheMachines() {
    assertEquals(0x1_0000, Libc.directoryFlag("amd64"));
    assertEquals(0x1_0000, Libc.directoryFlag("riscv64"));
    assertEquals(0x1_0000, Libc.directoryFlag("s390x"));
    assertEquals(0x4000, Libc.directoryFlag("aarch64"));
    assertEquals(0x4000, Libc.directoryFlag("ppc64le"));
    assertEquals(2 * Libc.O_DIRECTORY, Libc.O_NOFOLLOW);
    assertEquals(0x4000, Libc.directFlag("amd64"));
    assertEquals(0x1_0000, Libc.directFlag("aarch64"));
    assertEquals(0x2_0000, Libc.directFlag("ppc64le"));
  }

  @Test
  void aCallThatFailsReturnsItsError() {
    int result = Libc.open(Path.of("/nonexistent/file"), Libc.O_RDONLY);
    assertSame(Errno.ENOENT, Errno.ofResult(result));
    assertEquals(-1, Libc.close(-1));
    assertSame(
        Errno.EINVAL,
        Errno.ofResult(Libc.map(0, 0, Libc.PROT_NONE, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1)));
    assertSame(Errno.OTHER, Errno.ofResult(0));
    assertSame(Errno.OTHER, Errno.ofResult(-4_000_000_000L));
  }

  /** Numbers and words of each error are those of this machine's C library. */
  @Test
  void theTableSaysWhatTheLibrarySays() throws Throwable {
    Linker linker = Linker.nativeLinker();
    MethodHandle strerror =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("strerror"),
            FunctionDescriptor.of(
                ValueLayout.ADDRESS.withTargetLayout(
                    MemoryLayout.sequenceLayout(256, ValueLayout.JAVA_BYTE)),
                ValueLayout.JAVA_INT));
    for (Errno each : Errno.values()) {
      if (each != Errno.OTHER) {
        String said = ((MemorySegment) strerror.invokeExact(each.number())).getString(0);
        assertEquals(said, each.words(), each::name);
        assertSame(each, Errno.of(each.number()));
      }
    }
    assertEquals("open: Permission denied (errno 13)", Errno.inWords("open", 13));
    assertEquals("ioctl: Unknown error 4000 (errno 4000)", Errno.inWords("ioctl", 4000));
    // The error of ext4 and XFS for a wrong checksum is not in the table.
    assertEquals("read: Bad message (errno 74)", Errno.inWords("read", 74));
  }
}
