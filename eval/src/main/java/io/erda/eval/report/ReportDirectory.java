package io.erda.eval.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A directory with what experiments have told: {@code index.html} and {@code results.json} of all
 * of them, and each table and plot once more as CSV and SVG. What is there is kept up to date after
 * each experiment, so that a long run that is ended leaves what it has. One thread.
 */
public final class ReportDirectory {
  private final Path directory;
  private final Page page;
  private final ObjectNode results;

  /**
   * Makes the directory where there is none, and writes the page, without experiments yet.
   *
   * @param machine what it is measured on, by what each thing is called
   */
  public ReportDirectory(Path directory, String introduction, Map<String, String> machine)
      throws IOException {
    this.directory = Files.createDirectories(directory.toAbsolutePath());
    this.page = new Page("Erda, measured", introduction, machine);
    this.results = new ObjectMapper().createObjectNode();
    machine.forEach(results.putObject("machine")::put);
    write();
  }

  /**
   * Adds what an experiment has told.
   *
   * @param json the same for programs
   */
  public void add(Page.Section section, ObjectNode json) throws IOException {
    page.add(section);
    ObjectNode node = results.putObject(section.name());
    node.setAll(json);
    section.missed().forEach(node.putArray("missed")::add);
    int number = 0;
    for (Part part : section.parts()) {
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

  /** What people open. */
  public Path page() {
    return directory.resolve("index.html");
  }

  private void write() throws IOException {
    Files.writeString(page(), page.html());
    Files.writeString(
        directory.resolve("results.json"),
        new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(results)
            + "\n");
  }
}
