package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.console.UserError;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void helpAndVersionGoToStandardOutput() {
    assertEquals(0, run("--help"));
    assertTrue(out.toString().contains("Usage: erda"), out::toString);
    assertEquals(0, run("--version"));
    assertTrue(out.toString().contains("erda 0."), out::toString);
    assertEquals(0, run("classpath", "--help"));
    assertTrue(out.toString().contains("Usage: erda classpath"), out::toString);
    assertEquals("", err.toString());
  }

  @Test
  void helpIsACommandToo() {
    assertEquals(0, run("--help"));
    String all = out.toString();
    out.getBuffer().setLength(0);
    assertEquals(0, run("help"));
    assertEquals(all, out.toString());
    out.getBuffer().setLength(0);
    assertEquals(0, run("get", "--help"));
    String get = out.toString();
    out.getBuffer().setLength(0);
    assertEquals(0, run("help", "get"));
    assertEquals(get, out.toString());
    assertEquals("", err.toString());
    assertEquals(2, run("help", "no-such-command"));
    assertOneLine("no-such-command");
  }

  @Test
  void anUnknownOptionIsNamedBeforeWhatIsMissing() {
    assertEquals(2, run("get", "--nosuch", "key"));
    assertOneLine("unknown option '--nosuch'");
    assertEquals(2, run("server", "--dta", "here"));
    assertOneLine("unknown option '--dta'");
    assertEquals(2, run("get", "key"));
    assertOneLine("--uri");
  }

  @Test
  void classpathPrintsOneLineEach() {
    assertEquals(0, run("classpath"));
    assertEquals(System.getProperty("java.class.path"), out.toString().strip());
    out.getBuffer().setLength(0);
    assertEquals(0, run("classpath", "--flags"));
    assertTrue(out.toString().contains("--enable-native-access=ALL-UNNAMED"), out::toString);
    assertEquals(1, out.toString().lines().count());
    out.getBuffer().setLength(0);
    assertEquals(0, run("classpath", "--java"));
    assertTrue(Files.isExecutable(Path.of(out.toString().strip())), out::toString);
  }

  @Test
  void wrongUsageIsOneLineAndExitCodeTwo() {
    assertEquals(2, run("--no-such-flag"));
    assertOneLine("'--no-such-flag'");
    assertEquals(2, run("classpath", "--no-such-flag"));
    assertOneLine("erda classpath --help");
    assertEquals(2, run("no-such-command"));
    assertOneLine("no-such-command");
    assertEquals(2, run());
    assertOneLine("which command");
  }

  @Test
  void aUserErrorIsItsMessage() {
    assertEquals(2, report(new UserError("key is 70000 bytes,\n  at most 65535", 2), false));
    assertOneLine("erda: key is 70000 bytes,; at most 65535");
    assertEquals(1, report(new UncheckedIOException(new NoSuchFileException("/a/b")), false));
    assertOneLine("erda: no such file or directory: /a/b");
  }

  /** Found by a review: what a line of an import said was obeyed by the terminal. */
  @Test
  void noTerminalObeysAMessage() {
    assertEquals(1, report(new UserError("'\u001b[2J\u009b\u0007' is not known"), false));
    assertOneLine("erda: '\\u001b[2J\\u009b\\u0007' is not known");
    assertEquals(1, report(new NoSuchFileException("/a/\nb\u001b[2J"), false));
    assertOneLine("no such file or directory: /a/; b\\u001b[2J");
    assertEquals(2, run("\u001b[2J"));
    assertOneLine("no such command: '\\u001b[2J'");
  }

  @Test
  void aDefectNamesItsTypeAndShowsItsTraceOnlyWhenAsked() {
    assertEquals(1, report(new IllegalStateException("boom"), false));
    assertOneLine("internal error: java.lang.IllegalStateException: boom");
    assertEquals(1, report(new IllegalStateException("boom"), true));
    assertTrue(err.toString().contains("\tat io.erda.launcher.MainTest"), err::toString);
  }

  @Test
  void verboseIsSeenBeforeTheEndOfOptionsOnly() {
    assertTrue(ErrorReport.verbose("get", "-v", "key"));
    assertFalse(ErrorReport.verbose("get", "--", "-v"));
  }

  @Test
  void aCommandIsFoundByItsNameAloneAsAmongAllOfThem() {
    Map<String, CommandLine> all = ErdaCommand.commandLine().getSubcommands();
    assertEquals(ErdaCommand.all().size(), all.size());
    assertEquals(all.keySet(), ErdaCommand.commandLine("help", "get").getSubcommands().keySet());
    Map<String, CommandLine> others = new TreeMap<>(all);
    others.remove("help");
    others.forEach((name, among) -> {
      Map<String, CommandLine> one = ErdaCommand.commandLine(name).getSubcommands();
      assertEquals(Set.of(name), one.keySet());
      assertEquals(among.getUsageMessage(), one.get(name).getUsageMessage());
    });
    assertEquals(all.keySet(), ErdaCommand.commandLine("-v", "get").getSubcommands().keySet());
  }

  /** A per cent sign in a description would put a warning of the library before the help. */
  @Test
  void everyHelpIsShownWithoutAWarning() {
    PrintStream before = System.err;
    ByteArrayOutputStream warnings = new ByteArrayOutputStream();
    System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
    try {
      askForHelp(ErdaCommand.commandLine());
    } finally {
      System.setErr(before);
    }
    assertEquals("", warnings.toString(StandardCharsets.UTF_8));
  }

  private static void askForHelp(CommandLine command) {
    assertTrue(command.getUsageMessage().contains("Usage: "));
    command.getSubcommands().values().forEach(MainTest::askForHelp);
  }

  @Test
  void whatTheClassCacheIsRecordedFromSucceeds(@TempDir Path directory) {
    assertDoesNotThrow(() -> TrainingRun.run(directory.resolve("data")));
  }

  private int run(String... args) {
    return Main.run(new PrintWriter(out), new PrintWriter(err), false, args);
  }

  private int report(Exception failure, boolean verbose) {
    return new ErrorReport(false).failed(failure, new PrintWriter(err, true), verbose);
  }

  private void assertOneLine(String part) {
    String text = err.toString();
    assertEquals(1, text.lines().count(), text);
    assertTrue(text.startsWith("erda: "), text);
    assertTrue(text.contains(part), text);
    err.getBuffer().setLength(0);
  }
}
