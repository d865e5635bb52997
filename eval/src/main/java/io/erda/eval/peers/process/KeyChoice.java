package io.erda.eval.peers.process;

/** How several threads choose among the objects of a store. */
public enum KeyChoice {
  /** Each is as likely as any other. */
  UNIFORM("uniform"),

  /** Some are chosen much more often: {@link io.erda.eval.load.Zipfian}. */
  ZIPFIAN("Zipfian"),

  /** All threads choose the same one. */
  HOT("one hot key");

  private final String title;

  KeyChoice(String title) {
    this.title = title;
  }

  /** The name of the choice in the report. */
  public String title() {
    return title;
  }
}
