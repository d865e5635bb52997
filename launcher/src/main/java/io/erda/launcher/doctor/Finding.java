package io.erda.launcher.doctor;

/**
 * What was found of one thing.
 *
 * @param name of the thing, as a script looks for it
 * @param found what is there, in words
 * @param mend the command or option that mends it; null where nothing is to be mended
 */
public record Finding(String name, State state, String found, String mend) {
  /** How much it matters. */
  public enum State {
    /** It is as Erda needs it. */
    OK,
    /** Erda works, with less than it could have, or without something that was not asked for. */
    NOTE,
    /** Erda does not work over shared memory and TCP until this is mended. */
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
