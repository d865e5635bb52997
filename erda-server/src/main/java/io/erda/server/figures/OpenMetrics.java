package io.erda.server.figures;

import io.erda.server.figures.StatsFigure.Kind;
import io.erda.server.figures.StatsFigure.Unit;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.BiConsumer;

/**
 * Figures as text for monitoring: OpenMetrics (version 1.0.0 of the specification), and the format
 * of Prometheus before that (version 0.0.4), which has the same samples, fewer types and no units.
 * Names are derived from those of the catalogue: {@code log.bytes.used} is {@code
 * erda_log_used_bytes}, times are seconds, percent and permille are ratios, a counter's sample ends
 * with {@code _total}, and the placeholders of a name are labels. A negative value, which means
 * unknown, has no sample.
 */
public final class OpenMetrics {
  /** The content type of a response with {@link #text}. */
  public static final String CONTENT_TYPE =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  /** The content type of a response with {@link #plainText}. */
  public static final String PLAIN_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private OpenMetrics() {}

  /**
   * The text of all figures of the catalogue.
   *
   * @param told values by name, as a server tells them
   */
  public static String text(Map<String, Long> told) {
    return text(told, OpenMetrics::describe) + "# EOF\n";
  }

  /**
   * Returns the text in the format of version 0.0.4, for tools that don't know OpenMetrics.
   *
   * @param told values by name, as a server tells them
   */
  public static String plainText(Map<String, Long> told) {
    return text(told, OpenMetrics::describePlain);
  }

  private static String text(
      Map<String, Long> told, BiConsumer<StatsFigure, StringBuilder> describer) {
    Map<StatsFigure, List<String>> samples = new LinkedHashMap<>();
    FigureCatalogue.all().forEach(figure -> samples.put(figure, new ArrayList<>()));
    told.forEach((name, value) -> {
      StatsFigure figure = FigureCatalogue.find(name);
      if (figure != null && value >= 0) {
        samples.get(figure).add(sample(figure, figure.labels(name), value));
      }
    });
    StringBuilder text = new StringBuilder();
    samples.forEach((figure, lines) -> {
      if (!lines.isEmpty()) {
        describer.accept(figure, text);
        lines.forEach(text::append);
      }
    });
    return text.toString();
  }

  /** The name of a figure's metric family. */
  public static String family(StatsFigure figure) {
    StringJoiner name = new StringJoiner("_");
    name.add("erda");
    for (String part : figure.parts()) {
      if (!StatsFigure.isPlaceholder(part) && !isUnit(part)) {
        name.add(part.toLowerCase(Locale.ROOT));
      }
    }
    String unit = unit(figure.unit());
    return unit.isEmpty() ? name.toString() : name.add(unit).toString();
  }

  /** The name of a figure's samples, by which they are queried. */
  public static String sampleName(StatsFigure figure) {
    return family(figure)
        + switch (figure.kind()) {
          case COUNTER -> "_total";
          case TEXT -> "_info";
          case GAUGE -> "";
        };
  }

  private static boolean isUnit(String part) {
    return switch (part) {
      case "bytes", "ns", "percent", "permille" -> true;
      default -> false;
    };
  }

  private static String unit(Unit unit) {
    return switch (unit) {
      case BYTES -> "bytes";
      case NANOSECONDS -> "seconds";
      case PERCENT, PERMILLE -> "ratio";
      case NUMBER, FLAG, NONE -> "";
    };
  }

  private static void describe(StatsFigure figure, StringBuilder text) {
    String family = family(figure);
    String type = figure.kind() == Kind.TEXT ? "info" : figure.kind().name();
    text.append("# TYPE ").append(family).append(' ');
    text.append(type.toLowerCase(Locale.ROOT)).append('\n');
    if (!unit(figure.unit()).isEmpty()) {
      text.append("# UNIT ").append(family).append(' ').append(unit(figure.unit())).append('\n');
    }
    text.append("# HELP ").append(family).append(' ').append(escaped(figure.meaning()));
    text.append('\n');
  }

  /**
   * Describes a figure in the old format, in which a counter has the name of its samples, and a
   * text is a number that is always 1.
   */
  private static void describePlain(StatsFigure figure, StringBuilder text) {
    String name = sampleName(figure);
    String type = figure.kind() == Kind.COUNTER ? "counter" : "gauge";
    text.append("# HELP ").append(name).append(' ');
    text.append(figure.meaning().replace("\\", "\\\\").replace("\n", "\\n")).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static String sample(StatsFigure figure, Map<String, String> labels, long value) {
    StringJoiner pairs = new StringJoiner(",", "{", "}").setEmptyValue("");
    labels.forEach((label, of) -> pairs.add(label + "=\"" + escaped(of) + "\""));
    return sampleName(figure) + pairs + " " + number(figure.unit(), value) + "\n";
  }

  private static String number(Unit unit, long value) {
    int scale =
        switch (unit) {
          case NANOSECONDS -> 9;
          case PERMILLE -> 3;
          case PERCENT -> 2;
          case NUMBER, FLAG, BYTES, NONE -> 0;
        };
    return BigDecimal.valueOf(value, scale).toPlainString();
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
