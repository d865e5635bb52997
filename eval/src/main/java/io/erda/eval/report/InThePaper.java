package io.erda.eval.report;

/**
 * The numbers of a paper for the same measurement, which are shown beside the measured ones.
 *
 * @param source a sentence that names the paper and the figure or table
 * @param numbers as the paper has them
 */
public record InThePaper(String source, Part numbers) implements Part {
  @Override
  public String text() {
    return source + "\n" + numbers.text();
  }

  @Override
  public String html() {
    return "<aside class=\"paper\">\n<p>"
        + Html.escape(source)
        + "</p>\n"
        + numbers.html()
        + "</aside>\n";
  }
}
