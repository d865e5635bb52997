package io.erda.launcher.doctor;

/**
 * The result of examining one thing.
 *
 * @param name the name of the thing, for scripts
 * @param found what is there, in words
 * @param mend the command or option that fixes it; null when nothing needs fixing
 */
public record Finding(String name, State state, String found, String mend) {
  /** How serious it is. */
  public enum State {
    /** The thing is as Erda needs it. */
    OK,
    /** Erda works, but more is possible, or an optional thing is missing. */
    NOTE,
    /** Erda does not work over shared memory and TCP until this is fixed. */
    WRONG
  }

  static Finding ok(String name, String found) {
    return new Finding(name, State.OK, found, null);
  }

  static Finding note(String name, String found, String mend) {
    return new Finding(name, State.NOTE, found, mend);
  }

  static Finding wrong(String name, String found, String mend) {
    return new Finding(name, State.WRONG, found, mend);
  }
}
