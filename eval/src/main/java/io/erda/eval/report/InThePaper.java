package io.erda.eval.report;

/**
 * What a paper has of the same, with the paper's own numbers, to stand beside what was measured
 * here.
 *
 * @param source a sentence: which figure or table of which paper
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
