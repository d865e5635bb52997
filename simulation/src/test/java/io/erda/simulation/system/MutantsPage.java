package io.erda.simulation.system;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The page {@code simulation/MUTANTS.md}. The description of a mutant in a row comes from the code.
 * The check that found it, the number of seeds, and the commit are those that the page has recorded
 * from the last run. The page is written only with {@code -Derda.write=true}.
 */
public final class MutantsPage {
  /** Whether the page may be written. */
  public static final boolean WRITES = Boolean.getBoolean("erda.write");

  /** Relative to the module's directory, in which tests run. */
  public static final Path PAGE = Path.of("MUTANTS.md");

  private static final String HEADING = "## ";
  private static final String COLUMNS =
      "| mutant | what is broken | found by | seeds needed, by set | commit and date of that run"
          + " |\n"
          + "|---|---|---|---|---|\n";
  private static final int COLUMNS_MAX = 120;
  private static final List<String> NOT_RUN = List.of("", "not run yet", "");

  private MutantsPage() {}

  /**
   * The mutants that are looked for in runs of one kind.
   *
   * @param runs the heading of their table
   * @param introduction what these runs are, in a sentence or two
   */
  public record Table(String runs, String introduction, List<Row> rows) {}

  /**
   * The description of a mutant in the code.
   *
   * @param defect the defect, as a clause
   * @param survives null where the simulation has to find it, else why it can't be found
   */
  public record Row(String name, String defect, String survives) {}

  /** The page as it should be: its own words before the first table, and a row for each mutant. */
  public static String text(String page, List<Table> tables) {
    String first = HEADING + tables.getFirst().runs() + "\n";
    int at = page.indexOf(first);
    if (at < 0) {
      throw new IllegalStateException(PAGE + " has no line " + first);
    }
    Map<String, List<String>> recorded = recorded(page.substring(at));
    StringBuilder text = new StringBuilder(page.substring(0, at));
    for (Table table : tables) {
      text.append(table == tables.getFirst() ? "" : "\n");
      text.append(HEADING).append(table.runs()).append("\n\n");
      text.append(wrapped(table.introduction())).append("\n\n").append(COLUMNS);
      for (Row row : table.rows()) {
        List<String> run = recorded.getOrDefault(key(table.runs(), row.name()), NOT_RUN);
        String how = row.survives() == null ? run.get(0) : "survives: " + row.survives();
        text.append(line(row.name(), row.defect(), how, run.get(1), run.get(2)));
      }
    }
    return text.toString();
  }

  /**
   * Takes down what became of a mutant.
   *
   * @param runs the heading of its table
   * @param how what the sets found; empty when none found anything
   * @param needed seeds by set; one more than seedsMax where it was not found
   */
  static synchronized void record(
      String runs, String name, List<String> how, int[] needed, int seedsMax) {
    String foundBy =
        how.stream().map(MutantsPage::kind).distinct().collect(Collectors.joining("; "));
    String seeds =
        Arrays.stream(needed)
            .mapToObj(count -> count > seedsMax ? "more than " + seedsMax : "" + count)
            .collect(Collectors.joining(", "));
    try {
      String page = Files.readString(PAGE, UTF_8);
      String run = commit() + ", " + LocalDate.now();
      Files.writeString(PAGE, with(page, runs, name, List.of(foundBy, seeds, run)), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The page with another end of a row; one that is not there yet becomes the table's first. */
  static String with(String page, String runs, String name, List<String> run) {
    StringBuilder text = new StringBuilder();
    boolean here = false;
    boolean done = false;
    int absent = page.length();
    String beginning = "| " + name + " |";
    for (String line : page.split("(?<=\n)")) {
      if (line.startsWith(HEADING)) {
        here = line.equals(HEADING + runs + "\n");
      }
      if (here && line.startsWith(beginning)) {
        List<String> cells = cells(line);
        text.append(line(name, cells.get(1), run.get(0), run.get(1), run.get(2)));
        done = true;
      } else {
        text.append(line);
        if (here && !done && line.startsWith("|---")) {
          absent = text.length();
        }
      }
    }
    if (!done) {
      text.insert(absent, line(name, "", run.get(0), run.get(1), run.get(2)));
    }
    return text.toString();
  }

  private static String wrapped(String words) {
    StringBuilder text = new StringBuilder();
    int column = 0;
    for (String word : words.split(" ")) {
      boolean first = text.isEmpty();
      boolean fits = column + 1 + word.length() <= COLUMNS_MAX;
      text.append(first ? "" : fits ? " " : "\n").append(word);
      column = fits && !first ? column + 1 + word.length() : word.length();
    }
    return text.toString();
  }

  /** The last three cells of each row. */
  private static Map<String, List<String>> recorded(String tables) {
    Map<String, List<String>> recorded = new HashMap<>();
    String runs = "";
    for (String line : tables.split("\n")) {
      if (line.startsWith(HEADING)) {
        runs = line.substring(HEADING.length());
      } else if (line.startsWith("| ")) {
        List<String> cells = cells(line);
        recorded.put(key(runs, cells.getFirst()), cells.subList(2, 5));
      }
    }
    return recorded;
  }

  private static String key(String runs, String name) {
    return runs + "\n" + name;
  }

  private static List<String> cells(String line) {
    List<String> cells = new ArrayList<>();
    for (String cell : line.strip().split("\\|", -1)) {
      cells.add(cell.strip());
    }
    return cells.subList(1, cells.size() - 1);
  }

  private static String line(String... cells) {
    return Arrays.stream(cells)
        .map(cell -> cell.replace('|', '/'))
        .collect(Collectors.joining(" | ", "| ", " |\n"));
  }

  /** The commit that is run, or that something else than it is; pages don't count. */
  private static String commit() throws IOException {
    String commit = git("rev-parse", "--short=9", "HEAD");
    if (!commit.matches("[0-9a-f]+")) {
      return "no commit";
    }
    return git("status", "--porcelain", "--", ":/*.java").isEmpty() ? commit : commit + "-dirty";
  }

  private static String git(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(words));
    Process git = new ProcessBuilder(command).redirectErrorStream(true).start();
    return new String(git.getInputStream().readAllBytes(), UTF_8).strip();
  }

  /** Returns in a few words the check that found a mutant. */
  private static String kind(String failure) {
    String first = failure.lines().findFirst().orElse("");
    if (failure.contains("no order explains")) {
      return "history";
    }
    if (failure.contains("version word of")
        || failure.contains("key word of")
        || failure.contains("served and not durable")) {
      return "rules for words";
    }
    if (failure.contains("recovery left")) {
      return "inspection after recovery";
    }
    if (first.startsWith("an inspection finds, before the next opening")) {
      return "inspection before the next opening";
    }
    if (first.contains(" was told twice of operation")) {
      return "a client is told twice";
    }
    if (first.contains("twice in one iteration")) {
      return "a key is given twice in one iteration";
    }
    if (first.startsWith("all is well, and ")) {
      return "an operation fails when all is well";
    }
    if (first.startsWith("the server does not start")) {
      return "the server does not start";
    }
    if (first.startsWith("the server failed")) {
      return "the server fails";
    }
    if (first.matches("client \\d+ was told: .*Damaged.*")) {
      return "an operation ends as damaged";
    }
    if (first.startsWith("a get returned")) {
      return "a get returns what nobody put";
    }
    if (first.matches("(byte \\d+|\\d+ bytes|an older version|[a-z]+-[0-9-]+ is an older).*")) {
      return "damage of the medium that is not noticed";
    }
    return first.replaceAll("io\\.erda\\.[a-z.]*", "").replaceAll("(.{70}).*", "$1…");
  }
}
