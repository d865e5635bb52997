package io.erda.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** Tests the explanations of errors for users. */
class JvmErrorsTest {
  @Test
  void anErrorOfErdaIsToldWithoutItsType() {
    assertEquals("files failed", JvmErrors.tell(new ErdaException.ReadOnly("files failed")));
  }

  @Test
  void anyOtherErrorIsToldWithIt() {
    assertEquals(
        "java.lang.IllegalStateException: no", JvmErrors.tell(new IllegalStateException("no")));
  }

  /** It said that the program's files were not whole. */
  @Test
  void aPartThatCouldNotBeSetUpIsNoDamagedInstallation() {
    ExceptionInInitializerError first =
        new ExceptionInInitializerError(new NoSuchElementException("Symbol not found: openat"));
    assertTrue(JvmErrors.tell(first).contains("(ulimit -n;"), JvmErrors.tell(first));
    NoClassDefFoundError later =
        new NoClassDefFoundError("Could not initialize class io.erda.pmem.Libc");
    assertEquals(
        "a part of the program could not be set up when it was first needed, and can't be in this"
            + " process any more: start it again",
        JvmErrors.tell(later));
  }

  /** Found by a review, with a seccomp filter: it advised to raise the number of open files. */
  @Test
  void aCallThatIsForbiddenIsNoLackOfFileDescriptors() {
    ExceptionInInitializerError error =
        new ExceptionInInitializerError(new IOException("prlimit: Operation not permitted"));
    assertEquals(
        "a part of the program can't be set up: prlimit: Operation not permitted; this machine, or"
            + " a sandbox around the process, does not allow it",
        JvmErrors.tell(error));
  }

  /** Found by a review: the first connection with a secret threw it as it was. */
  @Test
  void aFileOfTheJvmThatCanNotBeReadIsTold() {
    String told = JvmErrors.explain(new InternalError("Error loading java.security file"));
    assertTrue(told.startsWith("the JVM can't read a file of its own: Error loading"), told);
    assertEquals(
        null, JvmErrors.explain(new InternalError("a fault occurred in an unsafe access")));
  }

  /** It advised -Xmx, which does not help where the other limit is set. */
  @Test
  void aLackOfMemoryOutsideOfTheHeapIsToldByTheLimitOfThat() {
    String told =
        JvmErrors.tell(new OutOfMemoryError("Cannot reserve 65584 bytes of direct buffer memory"));
    assertTrue(told.contains("-XX:MaxDirectMemorySize"), told);
    assertEquals(
        "out of memory: Java heap space; -Xmx gives a JVM more",
        JvmErrors.tell(new OutOfMemoryError("Java heap space")));
  }
}
