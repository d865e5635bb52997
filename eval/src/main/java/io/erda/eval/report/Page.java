package io.erda.eval.report;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A single HTML page without other files and without scripts. It begins with a summary: the time
 * and the machine of the measurements, the figures that experiments put {@linkplain Report#headline
 * at the top}, and one picture. Then follows each experiment with a sentence and its verdict, and
 * all its parts in a collapsed block. The page can be read on a phone and printed. One thread.
 */
public final class Page {
  /**
   * A part that is wider than the page scrolls separately, and has a shadow at each edge that hides
   * more of it. It has four backgrounds: the two white ones scroll with the content, and cover the
   * shadows at its ends.
   */
  private static final String STYLE =
      """
      :root { color-scheme: light; }
      body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
        max-width: 70rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
      p, ul { max-width: 60rem; }
      h1 { font-size: 1.7rem; line-height: 1.2; }
      h2 { font-size: 1.25rem; margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid #ddd; }
      h3 { font-size: 1rem; margin: 1.5rem 0 0; }
      h3 span { font-weight: normal; }
      h4 { font-size: 1rem; margin-bottom: 0; }
      section > p { margin: .2rem 0; }
      summary { cursor: pointer; color: #1b6ca8; }
      a { color: #1b6ca8; }
      code { background: #f4f5f7; padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
      .table, figure { overflow-x: auto; margin: 1rem 0; background:
        linear-gradient(to right, #fff 50%, #fff0) 0 0 / 3rem 100% no-repeat local,
        linear-gradient(to left, #fff 50%, #fff0) 100% 0 / 3rem 100% no-repeat local,
        linear-gradient(to right, #0005, #0000) 0 0 / .8rem 100% no-repeat scroll,
        linear-gradient(to left, #0005, #0000) 100% 0 / .8rem 100% no-repeat scroll; }
      table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
      th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid #e4e6ea;
        white-space: nowrap; }
      th:first-child, td:first-child, .words { text-align: left; }
      th { border-bottom: 2px solid #b9bec6; vertical-align: bottom; white-space: normal; }
      td:first-child { white-space: normal; min-width: 7rem; }
      svg { width: 100%; height: auto; max-width: 57.5rem; }
      svg > rect:first-child { fill: none; }
      .narrow svg { max-width: 34rem; }
      .paper { border-left: 3px solid #b9bec6; padding-left: .8rem; margin: 1rem 0; }
      .met { color: #2c6e2f; }
      .not-judged, .no-goal { color: #6b5200; }
      .missed { color: #a8420c; }
      @media (max-width: 40rem) { body { font-size: 15px; padding: .7rem; }
        th, td { padding: .25rem .4rem; }
        .short td:not(:nth-child(3)) { white-space: normal; }
        figure:not(.narrow) svg { min-width: 34rem; } }
      @media print { body { max-width: none; font-size: 10pt; } h3, figure { break-inside: avoid; }
        tr { break-inside: avoid; } .table, figure { overflow: visible; background: none; }
        td, th { white-space: normal; }
        details::details-content { content-visibility: visible; block-size: auto; } }
      """;

  private static final Map<Outcome, String> OF_EXPERIMENTS =
      Map.of(
          Outcome.MISSED, "These miss a goal or more:",
          Outcome.NOT_JUDGED, "Of these the runs can't tell:",
          Outcome.MET, "These meet all their goals:",
          Outcome.NO_GOAL, "Of these nothing is expected:");

  private final String title;
  private final String introduction;
  private final Map<String, String> machine;
  private final Map<String, Told> told = new LinkedHashMap<>();

  /**
   * The result of an experiment in this run.
   *
   * @param what one line with the measured quantity and its goal
   * @param command the command that runs only this experiment
   * @param quick whether the run was quick, so that its numbers are not reliable
   */
  public record Section(String name, String what, String command, boolean quick, Report report) {}

  /**
   * A section of the page, which may come from an earlier run.
   *
   * @param html the HTML of all parts
   * @param missed the goals that were missed, one sentence each; empty when there are none
   * @param unjudged the goals that the run could not judge
   * @param nothingExpected whether the experiment has no goal
   * @param headlines its lines of the summary
   * @param picture a picture with which the page may begin; empty when there is none
   * @param machine the machine and the time of the measurement
   */
  record Told(
      String name,
      String what,
      String command,
      boolean quick,
      String html,
      List<String> missed,
      List<String> unjudged,
      boolean nothingExpected,
      List<Headline> headlines,
      String picture,
      Map<String, String> machine) {
    Outcome outcome() {
      if (!missed.isEmpty()) {
        return Outcome.MISSED;
      }
      if (!unjudged.isEmpty()) {
        return Outcome.NOT_JUDGED;
      }
      return nothingExpected ? Outcome.NO_GOAL : Outcome.MET;
    }
  }

  /**
   * @param introduction some sentences
   * @param machine the properties of the present machine by name, including {@link Machine#WHEN}
   */
  public Page(String title, String introduction, Map<String, String> machine) {
    this.title = title;
    this.introduction = introduction;
    this.machine = machine;
  }

  /** Adds an experiment after the others, or replaces its earlier section. */
  Told add(Section section) {
    StringBuilder html = new StringBuilder();
    section.report().parts().forEach(part -> html.append(part.html()));
    Report report = section.report();
    Told now =
        new Told(
            section.name(),
            section.what(),
            section.command(),
            section.quick(),
            html.toString(),
            report.missed(),
            report.unjudged(),
            report.expectsNothing(),
            report.headlines(),
            report.picture() == null ? "" : report.picture().html(),
            machine);
    add(now);
    return now;
  }

  void add(Told section) {
    told.put(section.name(), section);
  }

  /** The whole page. */
  public String html() {
    StringBuilder body = new StringBuilder();
    body.append("<h1>").append(Html.escape(title)).append("</h1>\n");
    body.append(new Prose(introduction).html());
    body.append(new Prose(when() + inWords(machine)).html());
    body.append(headlines()).append(picture()).append(outcomes());
    if (!told.isEmpty()) {
      body.append("<h2>Experiments</h2>\n");
    }
    told.values().forEach(section -> body.append(html(section)));
    return """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>%s</title>
    <style>
    %s</style>
    </head>
    <body>
    %s</body>
    </html>
    """
        .formatted(Html.escape(title), STYLE, body);
  }

  private String when() {
    List<String> times =
        told.values().stream()
            .map(section -> section.machine().getOrDefault(Machine.WHEN, ""))
            .filter(time -> !time.isEmpty())
            .sorted()
            .toList();
    if (times.isEmpty()) {
      return "Nothing was measured yet.";
    }
    return times.getFirst().equals(times.getLast())
        ? "It was measured in a run of " + times.getFirst() + "."
        : "It was measured in runs of " + times.getFirst() + " to " + times.getLast() + ".";
  }

  private String inWords(Map<String, String> ofMachine) {
    String words =
        ofMachine.entrySet().stream()
            .filter(each -> !each.getKey().equals(Machine.WHEN))
            .map(each -> each.getKey() + " " + each.getValue())
            .collect(Collectors.joining("; "));
    if (words.isEmpty()) {
      return "";
    }
    boolean alike = told.values().stream().allMatch(section -> differing(section).isEmpty());
    return " The machine has "
        + words
        + (alike ? "." : ". An experiment that ran with something else says with what.");
  }

  /** The few figures that a reader wants. */
  private String headlines() {
    StringBuilder rows = new StringBuilder();
    for (Told section : told.values()) {
      for (Headline each : section.headlines()) {
        rows.append(
            "<tr><td><a href=\"#%s\">%s</a></td><td>%s</td><td>%s</td><td>%s</td></tr>\n"
                .formatted(
                    section.name(),
                    Html.escape(each.what()),
                    Html.escape(each.figure()),
                    Html.escape(each.goal()),
                    each.outcome().html(each.outcome().words()) + inQuickRun(section)));
      }
    }
    return rows.isEmpty()
        ? ""
        : "<h2>In short</h2>\n<p>A figure without a unit is a quotient of the two that stand beside"
            + " each other.</p>\n<div class=\"table short\"><table>\n"
            + "<tr><th>what</th><th>figure</th><th>must be</th><th></th></tr>\n"
            + rows
            + "</table></div>\n";
  }

  /** One picture is enough, the first. */
  private String picture() {
    return told.values().stream()
        .map(Told::picture)
        .filter(picture -> !picture.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** Returns the lists of experiments by their outcome. */
  private String outcomes() {
    Map<Outcome, List<String>> links = new EnumMap<>(Outcome.class);
    for (Told section : told.values()) {
      links
          .computeIfAbsent(section.outcome(), _ -> new ArrayList<>())
          .add("<a href=\"#%1$s\">%1$s</a>".formatted(section.name()));
    }
    StringBuilder html = new StringBuilder();
    links.forEach((outcome, names) ->
        html.append("<p>")
            .append(outcome.html(OF_EXPERIMENTS.get(outcome)))
            .append(" ")
            .append(String.join(", ", names))
            .append(".</p>\n"));
    return html.toString();
  }

  private static String sentence(String what) {
    return Character.toUpperCase(what.charAt(0)) + what.substring(1) + ".";
  }

  private static String verdict(Told section) {
    Outcome outcome = section.outcome();
    int missed = section.missed().size();
    String words =
        outcome == Outcome.MISSED
            ? missed + (missed == 1 ? " goal missed" : " goals missed")
            : outcome.words();
    return outcome.html(words) + inQuickRun(section);
  }

  private static String inQuickRun(Told section) {
    return section.quick() ? ", in a quick run" : "";
  }

  private String html(Told section) {
    StringBuilder html = new StringBuilder();
    html.append(
        "<section>\n<h3 id=\"%1$s\">%1$s: <span>%2$s</span></h3>\n"
            .formatted(section.name(), verdict(section)));
    html.append(new Prose(sentence(section.what())).html());
    html.append("<details>\n<summary>Tables, plots and notes</summary>\n");
    list(html, "Missed", section.missed());
    list(html, "Not judged", section.unjudged());
    html.append(section.html());
    return html.append("<p>Alone: <code>" + Html.escape(section.command()) + "</code>")
        .append(Html.escape(measured(section)))
        .append("</p>\n</details>\n</section>\n")
        .toString();
  }

  private static void list(StringBuilder html, String head, List<String> lines) {
    if (!lines.isEmpty()) {
      html.append("<h4>" + head + "</h4>\n<ul>\n");
      lines.forEach(line -> html.append("<li>" + Html.escape(line) + "</li>\n"));
      html.append("</ul>\n");
    }
  }

  /**
   * Returns the time of a measurement, and the properties of its machine that differ from the
   * present ones.
   */
  private String measured(Told section) {
    Map<String, String> by = section.machine();
    StringBuilder words = new StringBuilder();
    if (by.containsKey(Machine.WHEN)) {
      words.append(", in a run of ").append(by.get(Machine.WHEN));
    }
    String differing = differing(section);
    words.append(differing.isEmpty() ? "" : ", with " + differing);
    if (section.quick()) {
      words.append(". That was a quick run: it shows that all runs; don't believe its numbers");
    }
    return words.append('.').toString();
  }

  /** Returns the properties of a section's machine that differ from the present machine. */
  private String differing(Told section) {
    return section.machine().entrySet().stream()
        .filter(each -> !each.getKey().equals(Machine.WHEN))
        .filter(each -> !each.getValue().equals(machine.get(each.getKey())))
        .map(each -> each.getKey() + ": " + each.getValue())
        .collect(Collectors.joining("; "));
  }
}
