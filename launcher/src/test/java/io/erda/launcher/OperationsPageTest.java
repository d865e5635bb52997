package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands of {@code docs/operations.md} are there, and those of its first walk succeed. */
class OperationsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "operations.md");
  private static final Pattern BLOCK = Pattern.compile("```sh\\n(.*?)```", Pattern.DOTALL);
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS.withCapacityBytes(2 << 20).withBuckets(256);

  @TempDir Path directory;

  @Test
  void theFirstWalk() throws Exception {
    ErdaServer server = null;
    try {
      for (String line : commands(blocks().getFirst())) {
        String here =
            line.replace("/var/lib/", directory + "/").replace("/backups/", directory + "/");
        if (server != null && (here.startsWith("server ") || here.startsWith("verify "))) {
          server.close();
        }
        if (here.startsWith("server ")) {
          server = ErdaServer.start(Path.of(here.substring("server --data ".length())), SMALL);
        } else {
          CommandShell.Ended ended = new CommandShell(directory, "").run("erda " + here);
          String out = new String(ended.out(), UTF_8);
          assertEquals(0, ended.exitCode(), here + ": " + out + ended.err());
          assertTrue(!here.startsWith("get ") || out.equals("hello\n"), here + ": " + out);
        }
      }
    } finally {
      if (server != null) {
        server.close();
      }
    }
  }

  @Test
  void everyOptionIsThere() throws IOException {
    int count = 0;
    for (String block : blocks()) {
      for (String command : commands(block)) {
        requireOptions(command, command);
        count++;
      }
    }
    assertTrue(count > 15, count + " commands");
  }

  /** Lines of all pages that a user copies. */
  @Test
  void everyOptionOfEveryPageIsThere() throws IOException {
    Pattern line = Pattern.compile("^(?: {4})?\\./erda (.*?)(?: +[#&|>].*)?$", Pattern.MULTILINE);
    int count = 0;
    for (String page :
        List.of(
            "README.md",
            "docs/embedding.md",
            "docs/operations.md",
            "docs/consistency.md",
            "docs/watching.md",
            "docs/testing.md")) {
      String text = Files.readString(Path.of("..").resolve(page)).replace("\\\n", "");
      Matcher commands = line.matcher(text);
      while (commands.find()) {
        requireOptions(page + ": " + commands.group(1), commands.group(1));
        count++;
      }
    }
    assertTrue(count >= 15, count + " commands");
  }

  @Test
  void everyPlaceThatItLinksToIsThere() throws IOException {
    Matcher links =
        Pattern.compile("\\]\\(([^)#]*)(?:#([^)]*))?\\)").matcher(Files.readString(PAGE));
    int count = 0;
    while (links.find()) {
      Path page = links.group(1).isEmpty() ? PAGE : PAGE.resolveSibling(links.group(1));
      assertTrue(Files.exists(page), links.group());
      assertTrue(links.group(2) == null || anchors(page).contains(links.group(2)), links.group());
      count++;
    }
    assertTrue(count > 20, "links found: " + count);
  }

  private static void requireOptions(String what, String command) {
    String[] words = command.replace("'", "").strip().split(" +");
    CommandLine commandLine =
        ErdaCommand.commandLine(words).setCaseInsensitiveEnumValuesAllowed(true);
    assertDoesNotThrow(() -> commandLine.parseArgs(words), what);
  }

  private static List<String> anchors(Path page) throws IOException {
    List<String> anchors = new ArrayList<>();
    for (String line : Files.readAllLines(page, UTF_8)) {
      if (line.startsWith("#")) {
        String title = line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT);
        anchors.add(title.replaceAll("[^a-z0-9 -]", "").replace(' ', '-'));
      }
    }
    return anchors;
  }

  private static List<String> blocks() throws IOException {
    List<String> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(Files.readString(PAGE));
    while (matcher.find()) {
      blocks.add(matcher.group(1));
    }
    return blocks;
  }

  /** Returns the text after {@code ./erda} in each line, without comments. */
  private static List<String> commands(String block) {
    return block
        .lines()
        .filter(line -> line.startsWith("./erda "))
        .map(line -> line.substring("./erda ".length()).replaceFirst(" +[#>] .*", ""))
        .toList();
  }
}
