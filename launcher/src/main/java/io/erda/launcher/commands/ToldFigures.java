package io.erda.launcher.commands;

import java.util.Map;

/**
 * The figures of a server, by name.
 *
 * @param figures the values of figures by name, as {@code ErdaClient.stats()} gives them
 */
record ToldFigures(Map<String, Long> figures) {
  /** A number; −1 when the server did not tell it. */
  long number(String name) {
    return figures.getOrDefault(name, -1L);
  }

  /** A text, which is part of a figure's name; null when the server did not tell it. */
  String text(String name) {
    String beginning = name + "=";
    for (String each : figures.keySet()) {
      if (each.startsWith(beginning)) {
        return each.substring(beginning.length());
      }
    }
    return null;
  }

  /** How long the server serves, in words. */
  String uptime() {
    long seconds = number("server.uptime.ns") / 1_000_000_000L;
    if (seconds < 60) {
      return seconds + " s";
    }
    long minutes = seconds / 60;
    if (minutes < 60) {
      return minutes + " min " + seconds % 60 + " s";
    }
    long hours = minutes / 60;
    return hours < 48
        ? hours + " h " + minutes % 60 + " min"
        : hours / 24 + " d " + hours % 24 + " h";
  }
}
