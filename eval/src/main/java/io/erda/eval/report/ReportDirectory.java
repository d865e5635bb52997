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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A directory with what experiments have told: {@code index.html} and {@code results.json} of all
 * of them, and each table and plot once more as CSV and SVG. What is there is kept up to date after
 * each experiment, so that a long run that is ended leaves what it has. A later run into the same
 * directory replaces what its own experiments told and leaves the rest, which {@code page.json}
 * keeps for it: who removes that file begins anew. One thread.
 */
public final class ReportDirectory {
  private static final String SECTIONS = "sections";
  private static final String RESULTS = "results";
  private static final String MACHINE = "machine";
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Path directory;
  private final Page page;

  /** What is kept for later runs, by experiment. */
  private final Map<String, ObjectNode> sections = new LinkedHashMap<>();

  /**
   * Makes the directory where there is none, and writes the page, with what earlier runs left.
   *
   * @param machine what it is measured on, by what each thing is called
   * @throws IOException when what is there can't be read, or nothing can be written
   */
  public ReportDirectory(Path directory, String introduction, Map<String, String> machine)
      throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    this.page = new Page("Erda, measured", introduction, machine);
    Path kept = kept();
    if (Files.exists(kept)) {
      for (ObjectNode section : sections(kept)) {
        sections.put(section.get("name").textValue(), section);
        page.add(section(section));
      }
    }
    write();
  }

  private Path kept() {
    return directory.resolve("page.json");
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
    List<String> missed = texts(section, "missed");
    Map<String, String> machine = new LinkedHashMap<>();
    section
        .path(MACHINE)
        .properties()
        .forEach(each -> machine.put(each.getKey(), each.getValue().asText()));
    return new Page.Told(
        section.path("name").asText(),
        section.path("what").asText(),
        section.path("command").asText(),
        section.path("quick").asBoolean(),
        section.path("html").asText(),
        missed,
        texts(section, "unjudged"),
        machine);
  }

  private static List<String> texts(ObjectNode section, String name) {
    List<String> texts = new ArrayList<>();
    section.path(name).forEach(each -> texts.add(each.asText()));
    return texts;
  }

  /** Adds what an experiment has told. */
  public void add(Page.Section section) throws IOException {
    Page.Told told = page.add(section);
    ObjectNode node = JSON.createObjectNode();
    node.put("name", told.name()).put("what", told.what()).put("command", told.command());
    node.put("quick", told.quick());
    told.missed().forEach(node.putArray("missed")::add);
    told.unjudged().forEach(node.putArray("unjudged")::add);
    told.machine().forEach(node.putObject(MACHINE)::put);
    node.set(RESULTS, section.report().json());
    node.put("html", told.html());
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
