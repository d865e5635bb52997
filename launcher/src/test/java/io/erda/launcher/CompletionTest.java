package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the completion scripts. */
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
    Set<String> found = new TreeSet<>();
    answer("bash", "--norc", "-c", asked)
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .forEach(found::add);
    return found;
  }

  @Test
  void bashCompletesCommandsAndOptions() throws IOException, InterruptedException {
    assertEquals(Set.of("export", "exists"), completed("erda", "ex"));
    assertEquals(Set.of("run"), completed("erda", "eval", "r"));
    assertEquals(Set.of("bash", "zsh", "fish"), completed("erda", "completion", "''"));
    Set<String> options = completed("erda", "get", "--");
    assertTrue(options.containsAll(List.of("--uri", "--hex", "--key-file")), options.toString());
  }

  /**
   * Returns a line after a tabulator in a real zsh with a separate terminal.
   *
   * @param inFpath whether the script is found by its name, as from a package; otherwise it is read
   *     by {@code source}
   */
  private String completedByZsh(boolean inFpath, String line)
      throws IOException, InterruptedException {
    Path script = Files.writeString(directory.resolve("_erda"), script("zsh"));
    String known =
        inFpath
            ? "fpath=(" + directory + " $fpath); compinit -u -D"
            : "compinit -u -D; source " + script;
    Path out = directory.resolve("line");
    Files.deleteIfExists(out);
    String asked =
        """
        zmodload zsh/zpty
        zpty shell TERM=dumb zsh -f -i
        zpty -w shell "autoload -Uz compinit; $1"
        zpty -w shell "say() { print -r -- \\"\\$BUFFER\\" > $2.next; mv $2.next $2 }"
        zpty -w shell "zle -N say; bindkey '^T' say; print read''y"
        for i in {1..300}; do
          zpty -r -t shell line && seen+=$line
          [[ $seen == *ready* ]] && break
          sleep 0.1
        done
        zpty -w -n shell "$3"$'\\t\\x14'
        for i in {1..100}; do [ -e $2 ] && break; sleep 0.1; done
        zpty -d shell
        """;
    answer("zsh", "-f", "-c", asked, "zsh", known, out.toString(), line);
    assertTrue(Files.exists(out), "zsh said nothing of: " + line);
    return Files.readString(out).stripTrailing();
  }

  /** fish leaves a file where a session has its own, or for want of that in /tmp. */
  private String answer(String... command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("XDG_RUNTIME_DIR", directory.toString());
    Process process = builder.start();
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), answer);
    return answer;
  }

  private static boolean isInstalled(String shell) {
    return Arrays.stream(System.getenv("PATH").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, shell)));
  }

  @Test
  void zshCompletesCommandsOptionsAndFiles() throws IOException, InterruptedException {
    assumeTrue(isInstalled("zsh"), "zsh is not installed");
    assertEquals("erda exists", completedByZsh(false, "erda exi"));
    assertEquals("erda eval run", completedByZsh(false, "erda eval r"));
    assertEquals("erda get --uri=", completedByZsh(false, "erda get --ur"));
    assertEquals("erda get -n --base64", completedByZsh(false, "erda get -n --b"));
    assertEquals("erda backup /usr/", completedByZsh(false, "erda backup /us"));
    assertEquals("erda exists", completedByZsh(true, "erda exi"));
    assertEquals("erda completion fish", completedByZsh(true, "erda completion f"));
  }

  @Test
  void zshIsToldWhatWordsAreFor() {
    String script = script("zsh");
    assertTrue(script.startsWith("#compdef erda\n"), "what makes zsh load it from fpath");
    assertTrue(script.contains("'get:Print the value of a key"), script);
    assertTrue(script.contains("'(--key-file)--key-file=[Take the key'\\''s bytes"), script);
  }

  @Test
  void fishCompletesCommandsAndOptions() throws IOException, InterruptedException {
    assumeTrue(isInstalled("fish"), "fish is not installed");
    Path script = Files.writeString(directory.resolve("erda.fish"), script("fish"));
    String found =
        answer(
            "fish",
            "--no-config",
            "-c",
            "source " + script + "; complete -C 'erda exi'; complete -C 'erda get --ke'");
    assertTrue(found.startsWith("exists\tSay by the exit code"), found);
    assertTrue(found.contains("--key-file\tTake the key's bytes"), found);
  }

  @Test
  void noPromiseIsOfferedThatIsRefused() {
    assertTrue(script("fish").contains(" -a 'process power'"));
    assertTrue(script("zsh").contains("(process power)"));
    assertTrue(
        List.of("bash", "zsh", "fish").stream().noneMatch(each -> script(each).contains("ATOMIC")));
  }

  @Test
  void fishIsToldEveryCommandAndOptionInItsPlace() {
    List<String> lines = script("fish").lines().toList();
    for (Class<?> type : ErdaCommand.all()) {
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
                    "complete -c erda -f -n '__fish_seen_subcommand_from completion; and not"
                        + " __fish_seen_subcommand_from bash zsh fish' -a 'bash zsh fish' -d")));
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
