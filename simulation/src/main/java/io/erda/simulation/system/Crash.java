package io.erda.simulation.system;

import java.util.Locale;

/**
 * Where a crash struck.
 *
 * @param place class and method of the production code that called a seam, or {@code between steps}
 * @param recovering whether the server had not begun to serve
 * @param state the state of the store
 */
public record Crash(String place, boolean recovering, ProtocolState state)
    implements Comparable<Crash> {
  /** The place of a crash outside of any call. */
  static final String BETWEEN_STEPS = "between steps";

  /** The protocol's state in words. */
  public String stateText() {
    return (recovering ? "starting, " : "serving, ")
        + state.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  @Override
  public int compareTo(Crash other) {
    int byPlace = place.compareTo(other.place);
    return byPlace != 0 ? byPlace : stateText().compareTo(other.stateText());
  }
}
