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
 * <p>A part of the name in capitals stands for a number or a word: {@code
 * region.HEAD.REGION.live.permille} is a family, and {@code region.0.3.live.permille} one of it.
 *
 * @param name parts with dots between them
 * @param kind whether it only grows
 * @param unit of its values
 * @param meaning a phrase for people, one sentence or two
 */
public record Figure(String name, Kind kind, Unit unit, String meaning) {
  /** How a value may change. */
  public enum Kind {
    /** It grows from 0, and begins again when the server starts. */
    COUNTER,
    /** It goes up and down; a negative value says that it is not known, or that there is none. */
    GAUGE,
    /** It is a text, which stands in the name behind a {@code =}; the value is 1. */
    TEXT
  }

  /** The unit of a value. */
  public enum Unit {
    /** Things, or a number that means what the figure says. */
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

    /** As tables and pages show it. */
    public String symbol() {
      return symbol;
    }
  }

  private static final Pattern FAMILY_PART = Pattern.compile("[A-Z]+");

  /** The parts of the name. */
  public List<String> parts() {
    return List.of(name.split("\\."));
  }

  /** Whether a part of the name stands for another one in each of its figures. */
  public boolean isFamily() {
    return parts().stream().anyMatch(Figure::isPlaceholder);
  }

  /** Whether this part of a name stands for something. */
  public static boolean isPlaceholder(String part) {
    return FAMILY_PART.matcher(part).matches();
  }

  /**
   * What the placeholders stand for in {@code told}, a name that a server tells: by placeholder, in
   * lower case; for a text, by the last part of the name. Null where that is not of this figure.
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

  /** The names of what {@link #labels} gives. */
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
