package io.erda.eval.report;

/** Some sentences. */
public record Prose(String words) implements Part {
  public Prose {
    words = words.strip();
  }

  @Override
  public String text() {
    return words + "\n";
  }

  @Override
  public String html() {
    return "<p>" + Html.escape(words).replace("\n", "<br>\n") + "</p>\n";
  }
}
