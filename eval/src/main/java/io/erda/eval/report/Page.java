package io.erda.eval.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One HTML page that needs nothing beside it: what was measured, on what machine, by which
 * commands, and what it did not show. It is read on a phone and printed too. One thread.
 */
public final class Page {
  private static final String STYLE =
      """
      :root { color-scheme: light; }
      body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
        max-width: 70rem; margin: 0 auto; padding: 1rem; }
      p, ul { max-width: 60rem; }
      h1 { font-size: 1.7rem; line-height: 1.2; }
      h2 { font-size: 1.25rem; margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid #ddd; }
      h3 { font-size: 1rem; }
      a { color: #1b6ca8; }
      code { background: #f4f5f7; padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
      .table { overflow-x: auto; margin: 1rem 0; }
      table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
      th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid #e4e6ea;
        white-space: nowrap; }
      th:first-child, td:first-child, .words { text-align: left; }
      th { border-bottom: 2px solid #b9bec6; vertical-align: bottom; white-space: normal; }
      td:first-child { white-space: normal; min-width: 7rem; }
      .contents td, .machine td { text-align: left; white-space: normal; }
      .contents th, .machine th { text-align: left; }
      figure { margin: 1rem 0; }
      svg { width: 100%; height: auto; max-width: 57.5rem; }
      .shown { color: #2c6e2f; }
      .unjudged { color: #7a5c00; }
      .missed { color: #a8420c; }
      ul.missed { padding-left: 1.2rem; }
      footer { margin-top: 3rem; color: #666; font-size: .85rem; }
      @media (max-width: 40rem) { body { font-size: 15px; padding: .7rem; }
        figure { overflow-x: auto; } svg { min-width: 34rem; } }
      @media print { body { max-width: none; font-size: 10pt; } h2, figure { break-inside: avoid; }
        tr { break-inside: avoid; } .table { overflow: visible; } td, th { white-space: normal; } }
      """;

  private final String title;
  private final String introduction;
  private final Map<String, String> machine;
  private final Map<String, Told> told = new LinkedHashMap<>();

  /**
   * What an experiment has told now.
   *
   * @param what one line: what is measured, and what it must be
   * @param command what runs it alone
   * @param quick whether its numbers are not to be believed
   */
  public record Section(String name, String what, String command, boolean quick, Report report) {}

  /**
   * A section as it stands on the page, which may be of an earlier run.
   *
   * @param html of all parts
   * @param missed what was to be shown and was not; empty when all was
   * @param unjudged goals of which the run can't tell whether they are met
   * @param machine on which it was measured, and when
   */
  record Told(
      String name,
      String what,
      String command,
      boolean quick,
      String html,
      List<String> missed,
      List<String> unjudged,
      Map<String, String> machine) {}

  /**
   * @param introduction some sentences
   * @param machine what it is measured on now, by what each thing is called; {@link Machine#WHEN}
   *     among it
   */
  public Page(String title, String introduction, Map<String, String> machine) {
    this.title = title;
    this.introduction = introduction;
    this.machine = machine;
  }

  /** Adds an experiment behind the others, or in the place of what it told before. */
  Told add(Section section) {
    StringBuilder html = new StringBuilder();
    section.report().parts().forEach(part -> html.append(part.html()));
    Told now =
        new Told(
            section.name(),
            section.what(),
            section.command(),
            section.quick(),
            html.toString(),
            section.report().missed(),
            section.report().unjudged(),
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
    body.append(new Words(introduction).html());
    StringBuilder rows =
        new StringBuilder("<tr><th>experiment</th><th>what it is to show</th><th></th></tr>\n");
    for (Told section : told.values()) {
      rows.append(
          "<tr><td><a href=\"#%1$s\">%1$s</a></td><td>%2$s</td><td>%3$s</td></tr>\n"
              .formatted(section.name(), Html.escape(section.what()), verdict(section)));
    }
    body.append("<div class=\"table contents\"><table>\n").append(rows).append("</table></div>\n");
    body.append("<h2>The machine</h2>\n<div class=\"table machine\"><table>\n");
    machine.forEach((name, value) ->
        body.append(
            "<tr><td>%s</td><td>%s</td></tr>\n".formatted(Html.escape(name), Html.escape(value))));
    body.append("</table></div>\n");
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

  private static String sentence(String what) {
    return Character.toUpperCase(what.charAt(0)) + what.substring(1) + ".";
  }

  private static String verdict(Told section) {
    String verdict;
    if (!section.missed().isEmpty()) {
      verdict = "<span class=\"missed\">missed in part</span>";
    } else if (!section.unjudged().isEmpty()) {
      verdict = "<span class=\"unjudged\">not judged</span>";
    } else {
      verdict = "<span class=\"shown\">shown</span>";
    }
    return verdict + (section.quick() ? ", in a quick run" : "");
  }

  private String html(Told section) {
    StringBuilder html = new StringBuilder();
    html.append("<h2 id=\"%1$s\">%1$s</h2>\n".formatted(section.name()));
    html.append(new Words(sentence(section.what())).html());
    html.append(section.html());
    if (!section.missed().isEmpty()) {
      html.append("<h3 class=\"missed\">Missed</h3>\n<ul class=\"missed\">\n");
      section.missed().forEach(what -> html.append("<li>" + Html.escape(what) + "</li>\n"));
      html.append("</ul>\n");
    }
    if (!section.unjudged().isEmpty()) {
      html.append("<h3>Not judged</h3>\n<ul>\n");
      section.unjudged().forEach(what -> html.append("<li>" + Html.escape(what) + "</li>\n"));
      html.append("</ul>\n");
    }
    return html.append("<p>Alone: <code>" + Html.escape(section.command()) + "</code>")
        .append(Html.escape(measured(section)))
        .append("</p>\n")
        .toString();
  }

  /** When something was measured, and with what where that was not as it is now. */
  private String measured(Told section) {
    Map<String, String> by = section.machine();
    StringBuilder words = new StringBuilder();
    if (by.containsKey(Machine.WHEN)) {
      words.append(", in a run of ").append(by.get(Machine.WHEN));
    }
    String differing =
        by.entrySet().stream()
            .filter(each -> !each.getKey().equals(Machine.WHEN))
            .filter(each -> !each.getValue().equals(machine.get(each.getKey())))
            .map(each -> each.getKey() + ": " + each.getValue())
            .collect(Collectors.joining("; "));
    words.append(differing.isEmpty() ? "" : ", with " + differing);
    if (section.quick()) {
      words.append(". That was a quick run: it shows that all runs; don't believe its numbers");
    }
    return words.append('.').toString();
  }
}
