package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the checks of {@code start.sh} before it starts a JVM. */
class StartScriptTest {
  private static final Path START = Path.of("src", "main", "sh", "start.sh").toAbsolutePath();

  /**
   * Says of the first three descriptors whether they are open, and what can be read and written.
   */
  private static final String LOOK =
      "for d in 0 1 2; do [ -e /proc/self/fd/$d ] || echo $d is closed >&9; done;"
          + " if cat; then echo 0 can be read >&9; fi;"
          + " if echo lost; then echo 1 takes something >&9; fi";

  @TempDir Path directory;

  /**
   * Found by reviews: with standard input closed the JVM read its own file, and crashed; later it
   * read an empty file, which {@code put KEY -} stored.
   */
  @Test
  void whatIsClosedIsAFileThatCantBeReadOrWritten() throws Exception {
    Path seen = directory.resolve("seen");
    String script = "exec 9> '" + seen + "' 0<&- 1>&- 2>&-; set -eu; . '" + START + "'; " + LOOK;
    assertEquals(0, new ProcessBuilder("sh", "-c", script).start().waitFor());
    assertEquals(List.of(), Files.readAllLines(seen));
  }

  /** Found by a review: the JVM ended with its own stack trace. */
  @Test
  void aWorkingDirectoryThatWasRemovedIsSaidInOneLine() throws Exception {
    for (String what : List.of("rmdir ../d", "rmdir ../d && mkdir ../d", "mv ../d ../e", "true")) {
      Path above = Files.createTempDirectory(directory, "above");
      Path err = directory.resolve("err");
      String script =
          "cd '" + above + "' && mkdir d && cd d && " + what + "; set -eu; . '" + START + "'";
      ProcessBuilder builder = new ProcessBuilder("sh", "-c", script).redirectError(err.toFile());
      boolean removed = what.startsWith("rmdir");
      assertEquals(removed ? 1 : 0, builder.start().waitFor(), what);
      assertEquals(
          removed
              ? "erda: the directory that this runs in was removed: cd to one that is there\n"
              : "",
          Files.readString(err),
          what);
    }
  }

  /**
   * Found by a review: a user who may not read the current directory got files of relative names
   * below /tmp, because a JVM with performance data changes the directory; and a warning of the JVM
   * stood before a value on standard output.
   */
  @Test
  void everyJvmStaysInItsDirectoryAndOffStandardOutput() throws Exception {
    Path java = Files.createDirectories(directory.resolve("home/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done\n");
    assertTrue(java.toFile().setExecutable(true));
    Path build = Files.createDirectories(directory.resolve("build"));
    Files.writeString(build.resolve("classpath"), "");
    Files.writeString(build.resolve("flags"), "-Dall=1\n-Dserver=1\n");
    Path out = directory.resolve("out");
    for (String command : List.of("server --data store", "get a", "backup b", "simulate", "")) {
      String script =
          "set -eu; . '%s'; become_erda '%s' '%s' %s"
              .formatted(START, directory.resolve("home"), build, command);
      ProcessBuilder builder = new ProcessBuilder("sh", "-c", script).redirectOutput(out.toFile());
      assertEquals(0, builder.redirectError(ProcessBuilder.Redirect.INHERIT).start().waitFor());
      List<String> words = Files.readAllLines(out);
      assertTrue(words.contains("-XX:-UsePerfData"), command);
      assertTrue(words.contains("-XX:+DisplayVMOutputToStderr"), command);
      assertTrue(
          words.indexOf("-Xlog:disable") < words.indexOf("-Xlog:all=warning:stderr"), command);
    }
  }

  @Test
  void whatIsOpenStays() throws Exception {
    Path in = Files.writeString(directory.resolve("in"), "in");
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", "set -eu; . '" + START + "'; cat; echo err >&2");
    builder.redirectInput(in.toFile()).redirectOutput(out.toFile()).redirectError(err.toFile());
    assertEquals(0, builder.start().waitFor());
    assertEquals("in", Files.readString(out));
    assertEquals("err\n", Files.readString(err));
  }
}
