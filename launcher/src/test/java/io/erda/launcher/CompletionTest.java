package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What shells are told to complete. */
class CompletionTest {
  @TempDir Path directory;

  private static String script(String shell) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = Main.run(new PrintWriter(out), new PrintWriter(err), false, "completion", shell);
    assertEquals(0, exitCode, err.toString());
    return out.toString();
  }

  /** Asks a real bash. */
  private Set<String> completed(String... words) throws IOException, InterruptedException {
    Path script = Files.writeString(directory.resolve("completion"), script("bash"));
    String asked =
        "source "
            + script
            + "; COMP_WORDS=("
            + String.join(" ", words)
            + "); COMP_CWORD="
            + (words.length - 1)
            + "; COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}"
            + "; _complete_erda; printf '%s\\n' \"${COMPREPLY[@]}\"";
    Process bash =
        new ProcessBuilder("bash", "--norc", "-c", asked).redirectErrorStream(true).start();
    String answer = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, bash.waitFor(), answer);
    Set<String> found = new TreeSet<>();
    answer.lines().map(String::strip).filter(line -> !line.isEmpty()).forEach(found::add);
    return found;
  }

  @Test
  void bashCompletesCommandsAndOptions() throws IOException, InterruptedException {
    assertEquals(Set.of("export", "exists"), completed("erda", "ex"));
    assertEquals(Set.of("run"), completed("erda", "eval", "r"));
    Set<String> options = completed("erda", "get", "--");
    assertTrue(options.containsAll(List.of("--uri", "--hex", "--key-file")), options.toString());
  }

  @Test
  void fishIsToldEveryCommandAndOptionInItsPlace() {
    List<String> lines = script("fish").lines().toList();
    for (Class<?> type : ErdaCommand.SUBCOMMANDS) {
      String name = type.getSimpleName().replace("Command", "").toLowerCase(java.util.Locale.ROOT);
      assertTrue(
          lines.stream().anyMatch(line -> line.contains(" -a " + name + " -d '")), "no " + name);
    }
    assertTrue(
        lines.stream()
            .anyMatch(line ->
                line.startsWith(
                    "complete -c erda -n '__fish_seen_subcommand_from get' -l key-file -r -F"
                        + " -d 'Take the key")));
    assertTrue(
        lines.stream()
            .anyMatch(line ->
                line.startsWith(
                        "complete -c erda -f -n '__fish_seen_subcommand_from eval; and not"
                            + " __fish_seen_subcommand_from ")
                    && line.contains(" -a run ")));
  }

  @Test
  void ofAnotherShellItSaysWhichItKnows() {
    StringWriter err = new StringWriter();
    PrintWriter none = new PrintWriter(new StringWriter());
    assertEquals(2, Main.run(none, new PrintWriter(err), false, "completion", "tcsh"));
    assertEquals("erda: no completion for 'tcsh': bash, zsh or fish\n", err.toString());
  }
}
