package io.erda.server.figures;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One figure of a server, or a family of them. Immutable.
 *
 * <p>A part of the name in capitals is a placeholder for a number or a word: {@code
 * region.HEAD.REGION.live.permille} is a family, and {@code region.0.3.live.permille} is one of its
 * members.
 *
 * @param name parts with dots between them
 * @param kind how its value may change
 * @param unit the unit of its values
 * @param meaning one or two sentences for people
 */
public record StatsFigure(String name, Kind kind, Unit unit, String meaning) {
  /** How a value may change. */
  public enum Kind {
    /** The value grows from 0, and starts again at 0 when the server is started. */
    COUNTER,
    /** The value goes up and down; a negative value means unknown or none. */
    GAUGE,
    /** The figure is a text, which is part of the name after a {@code =}; the value is 1. */
    TEXT
  }

  /** The unit of a value. */
  public enum Unit {
    /** A number of things, or a number that the figure's meaning explains. */
    NUMBER("number"),
    /** 1 for yes, 0 for no. */
    FLAG("0 or 1"),
    BYTES("bytes"),
    NANOSECONDS("ns"),
    PERCENT("%"),
    PERMILLE("‰"),
    NONE("text");

    private final String symbol;

    Unit(String symbol) {
      this.symbol = symbol;
    }

    /** The symbol in tables and pages. */
    public String symbol() {
      return symbol;
    }
  }

  private static final Pattern FAMILY_PART = Pattern.compile("[A-Z]+");

  /** The parts of the name. */
  public List<String> parts() {
    return List.of(name.split("\\."));
  }

  /** Whether the name has a placeholder. */
  public boolean isFamily() {
    return parts().stream().anyMatch(StatsFigure::isPlaceholder);
  }

  /** Whether this part of a name is a placeholder. */
  public static boolean isPlaceholder(String part) {
    return FAMILY_PART.matcher(part).matches();
  }

  /**
   * Returns the values of the placeholders in {@code told}, a name from a server. The keys are the
   * placeholders in lower case; for a text the key is the last part of the name. Returns null when
   * the name does not belong to this figure.
   */
  public Map<String, String> labels(String told) {
    Matcher matcher = pattern().matcher(told);
    if (!matcher.matches()) {
      return null;
    }
    List<String> names = labelNames();
    Map<String, String> labels = new LinkedHashMap<>();
    for (int i = 0; i < names.size(); i++) {
      labels.put(names.get(i), matcher.group(i + 1));
    }
    return labels;
  }

  /** The keys of the map that {@link #labels} returns. */
  public List<String> labelNames() {
    List<String> names = new ArrayList<>();
    for (String part : parts()) {
      if (isPlaceholder(part)) {
        names.add(part.toLowerCase(Locale.ROOT));
      }
    }
    if (kind == Kind.TEXT) {
      names.add(parts().getLast());
    }
    return names;
  }

  private Pattern pattern() {
    Stream<String> parts =
        parts().stream().map(part -> isPlaceholder(part) ? "([^.=]+)" : Pattern.quote(part));
    String all = parts.collect(Collectors.joining("\\."));
    return Pattern.compile(kind == Kind.TEXT ? all + "=(.*)" : all, Pattern.DOTALL);
  }
}
