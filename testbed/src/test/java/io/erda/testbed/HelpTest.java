package io.erda.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The help of the scripts whose options a class of this module reads. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class HelpTest {
  private static final Path SCRIPTS = Path.of("").toAbsolutePath();

  @TempDir Path directory;

  /** A copy of a script has no {@code ./erda} beside it, and so nothing that could be built. */
  private String help(String script, String word) throws Exception {
    Path copy = directory.resolve(script);
    Files.copy(SCRIPTS.resolve(script), copy, StandardCopyOption.REPLACE_EXISTING);
    Process process =
        new ProcessBuilder("sh", copy.toString(), word)
            .redirectErrorStream(true)
            .directory(directory.toFile())
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertTrue(process.waitFor(30, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), said);
    return said;
  }

  private void assertHelp(String script, Object command) throws Exception {
    String help = help(script, "--help");
    assertEquals(help, help(script, "-h"));
    assertTrue(help.contains("testbed/" + script + " --short"), help);
    assertFalse(help.contains("#") || help.contains("io.erda"), help);
    List<String> named =
        help.lines()
            .filter(line -> line.startsWith("  --"))
            .map(line -> line.strip().split("[= ]")[0])
            .sorted()
            .toList();
    List<String> read =
        new CommandLine(command)
            .getCommandSpec().options().stream()
                .filter(option -> !option.hidden())
                .map(OptionSpec::longestName)
                .sorted()
                .toList();
    assertEquals(read, named);
  }

  @Test
  void ofFailingCalls() throws Exception {
    assertHelp("failing-calls", new FailingCalls());
  }

  @Test
  void ofPowerCuts() throws Exception {
    assertHelp("powercuts", new PowerCuts());
  }
}
