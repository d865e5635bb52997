package io.erda.eval.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A directory with the reports of experiments: {@code index.html} and {@code results.json} with all
 * of them, and each table and plot also as CSV and SVG. The files are updated after each
 * experiment, so that a long run that is ended early leaves the results so far. A later run into
 * the same directory replaces the reports of its own experiments, and keeps the others, which are
 * stored in {@code page.json}. After that file was removed, the page begins anew. One thread.
 */
public final class ReportDirectory {
  private static final String SECTIONS = "sections";
  private static final String RESULTS = "results";
  private static final String MACHINE = "machine";
  private static final String HEADLINES = "headlines";
  private static final String KEPT = "page.json";
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Path directory;
  private final Page page;

  /** The sections that are kept for later runs, by experiment. */
  private final Map<String, ObjectNode> sections = new LinkedHashMap<>();

  /**
   * Makes the directory if it does not exist, and writes the page with the reports of earlier runs.
   *
   * @param machine the properties of the machine by name
   * @throws IOException when the existing files can't be read, or files can't be written
   */
  public ReportDirectory(Path directory, String introduction, Map<String, String> machine)
      throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    List<ObjectNode> earlier = Files.exists(kept()) ? sections(kept()) : List.of();
    this.page = new Page("Erda, measured", introduction, machine);
    for (ObjectNode section : earlier) {
      sections.put(section.get("name").textValue(), section);
      page.add(section(section));
    }
    write();
  }

  /**
   * Makes the page of earlier runs anew, as this version makes it, and measures nothing.
   *
   * @return the directory, whose machine is that of the latest run
   * @throws IOException when nothing is there, or can't be read, or nothing can be written
   */
  public static ReportDirectory again(Path directory, String introduction) throws IOException {
    Path kept = directory.toAbsolutePath().resolve(KEPT);
    if (!Files.exists(kept)) {
      throw new IOException(kept + " is not there: no run has left anything");
    }
    return new ReportDirectory(
        directory,
        introduction,
        sections(kept).stream()
            .map(section -> texts(section.path(MACHINE)))
            .max(Comparator.comparing(machine -> machine.getOrDefault(Machine.WHEN, "")))
            .orElse(Map.of()));
  }

  private Path kept() {
    return directory.resolve(KEPT);
  }

  private static List<ObjectNode> sections(Path kept) throws IOException {
    JsonNode all;
    try {
      all = JSON.readTree(Files.readAllBytes(kept)).path(SECTIONS);
    } catch (JsonProcessingException e) {
      throw new IOException(foreign(kept), e);
    }
    List<ObjectNode> sections = new ArrayList<>();
    for (JsonNode each : all) {
      boolean whole =
          each.path("name").asText().matches("[a-z][-a-z]*")
              && !each.path("what").asText().isEmpty()
              && each.path(RESULTS).isObject();
      if (!(each instanceof ObjectNode section && whole)) {
        throw new IOException(foreign(kept));
      }
      sections.add(section);
    }
    if (!all.isArray()) {
      throw new IOException(foreign(kept));
    }
    return sections;
  }

  private static String foreign(Path kept) {
    return kept + " is not what an earlier run has left; remove it to begin a new report";
  }

  private static Page.Told section(ObjectNode section) {
    List<Headline> headlines = new ArrayList<>();
    for (JsonNode each : section.path(HEADLINES)) {
      headlines.add(
          new Headline(
              each.path("what").asText(),
              each.path("figure").asText(),
              each.path("goal").asText(),
              outcome(each.path("outcome").asText())));
    }
    return new Page.Told(
        section.path("name").asText(),
        section.path("what").asText(),
        section.path("command").asText(),
        section.path("quick").asBoolean(),
        section.path("html").asText(),
        texts(section, "missed"),
        texts(section, "unjudged"),
        section.path("nothingExpected").asBoolean(),
        headlines,
        section.path("picture").asText(),
        texts(section.path(MACHINE)));
  }

  private static Outcome outcome(String words) {
    return Arrays.stream(Outcome.values())
        .filter(outcome -> outcome.words().equals(words))
        .findFirst()
        .orElse(Outcome.NOT_JUDGED);
  }

  private static Map<String, String> texts(JsonNode node) {
    Map<String, String> texts = new LinkedHashMap<>();
    node.properties().forEach(each -> texts.put(each.getKey(), each.getValue().asText()));
    return texts;
  }

  private static List<String> texts(ObjectNode section, String name) {
    List<String> texts = new ArrayList<>();
    section.path(name).forEach(each -> texts.add(each.asText()));
    return texts;
  }

  /** Adds the report of an experiment. */
  public void add(Page.Section section) throws IOException {
    Page.Told told = page.add(section);
    ObjectNode node = JSON.createObjectNode();
    node.put("name", told.name()).put("what", told.what()).put("command", told.command());
    node.put("quick", told.quick());
    told.missed().forEach(node.putArray("missed")::add);
    told.unjudged().forEach(node.putArray("unjudged")::add);
    node.put("nothingExpected", told.nothingExpected());
    told.headlines()
        .forEach(each ->
            node.withArray(HEADLINES)
                .addObject()
                .put("what", each.what())
                .put("figure", each.figure())
                .put("goal", each.goal())
                .put("outcome", each.outcome().words()));
    told.machine().forEach(node.putObject(MACHINE)::put);
    node.set(RESULTS, section.report().json());
    node.put("html", told.html());
    node.put("picture", told.picture());
    sections.put(told.name(), node);
    removeParts(told.name());
    int number = 0;
    for (Part part : section.report().parts()) {
      Part.Extract extract = part.extract();
      if (extract != null) {
        number++;
        Files.writeString(
            directory.resolve(section.name() + "-" + number + "." + extract.extension()),
            extract.content());
      }
    }
    write();
  }

  /** Removes the parts of an earlier run, which may be more, or others. */
  private void removeParts(String name) throws IOException {
    Pattern part = Pattern.compile(Pattern.quote(name) + "-\\d+\\.(csv|svg)");
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (part.matcher(file.getFileName().toString()).matches()) {
          Files.delete(file);
        }
      }
    }
  }

  /** The name of the page that people open. */
  public Path page() {
    return directory.resolve("index.html");
  }

  private void write() throws IOException {
    ObjectNode keep = JSON.createObjectNode();
    sections.values().forEach(keep.putArray(SECTIONS)::add);
    replace(kept(), JSON.writeValueAsString(keep) + "\n");
    ObjectNode results = JSON.createObjectNode();
    sections.forEach((name, section) -> {
      ObjectNode node = results.putObject(name);
      node.setAll((ObjectNode) section.path(RESULTS).deepCopy());
      node.set("missed", section.path("missed"));
      node.set("unjudged", section.withArray("unjudged"));
      node.set(MACHINE, section.path(MACHINE));
    });
    replace(directory.resolve("results.json"), JSON.writeValueAsString(results) + "\n");
    replace(page(), page.html());
  }

  /** A full disk, or an end in the middle, leaves what was there. */
  private static void replace(Path file, String content) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(next, content);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }
}
