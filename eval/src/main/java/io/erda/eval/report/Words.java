package io.erda.eval.report;

/** Some sentences. */
public record Words(String words) implements Part {
  public Words {
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
