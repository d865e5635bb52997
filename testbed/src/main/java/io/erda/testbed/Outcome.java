package io.erda.testbed;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What came of one configuration of the failing calls: what is wrong with it, and what was seen.
 */
final class Outcome {
  /** What no user is to read: a type of Java's, a stack trace, a defect. */
  private static final Pattern UNTYPED =
      Pattern.compile(
          "(?m)^\\s+at [\\w.$/]+\\(|\\b(java|javax|jdk|sun)\\.[\\w.]*[A-Z]\\w+|internal error"
              + "|\\bio\\.erda\\.[\\w.]*[A-Z]\\w+|\\w+(Exception|Error)\\b");

  /** A call that writes to standard output or standard error. */
  private static final Pattern TO_SAY = Pattern.compile("^\\d+ +writev?\\([12]\\b");

  /** A call that wakes a thread of this process. */
  private static final Pattern OF_EVENTS =
      Pattern.compile("^\\d+ +(read|write)v?\\(\\d+<anon_inode");

  /** The JVM itself could not go on, and has said so. */
  private static final Pattern OF_THE_JVM =
      Pattern.compile(
          "fatal error has been detected|insufficient memory for the Java Runtime|Error occurred"
              + " during initialization of|Could not create the Java Virtual Machine|Error: Could"
              + " not find or load|Error loading|error while loading shared libraries|Could not"
              + " reserve|Error: Unable to|Error: dl failure|Error: failed /|library initialization"
              + " failed");

  private final List<String> complaints = new ArrayList<>();
  private final StringBuilder seen = new StringBuilder();
  private String trace = "";
  private boolean ofTheJvm;

  /** Takes what strace has written down. */
  void traced(String text) {
    trace = text;
  }

  String trace() {
    return trace;
  }

  /** Whether the call was made to fail, and nothing that never fails in this way. */
  boolean isMet() {
    return trace.contains("(INJECTED)") && !isUnreal();
  }

  /** An error of a connection met what wakes a thread, which no kernel fails: it shows nothing. */
  boolean isUnreal() {
    return trace
        .lines()
        .anyMatch(line -> line.contains("(INJECTED)") && OF_EVENTS.matcher(line).find());
  }

  /** Whether it was the JVM that could not go on: what it says is its own. */
  boolean isOfTheJvm() {
    return ofTheJvm;
  }

  /** Whether nothing failed that a program says. */
  boolean isHeard() {
    return trace
        .lines()
        .noneMatch(line -> line.contains("(INJECTED)") && TO_SAY.matcher(line).find());
  }

  void complain(String what) {
    complaints.add(what);
  }

  List<String> complaints() {
    return isUnreal() ? List.of() : complaints;
  }

  /** Everything that was said, for whoever looks at a failure. */
  String seen() {
    return seen.toString();
  }

  /** Takes what a program has said, and complains of what no user is to read. */
  void said(String who, String text) {
    if (text.isBlank()) {
      return;
    }
    text.lines()
        .limit(40)
        .forEach(line -> seen.append("    ").append(who).append(": ").append(line).append('\n'));
    if (OF_THE_JVM.matcher(text).find()) {
      ofTheJvm = true;
    } else {
      // What is missing then has no other name.
      var untyped = UNTYPED.matcher(text.replaceAll("a class can't be loaded \\([^)]*\\)", ""));
      if (untyped.find()) {
        complain(who + " says \"" + untyped.group().strip() + "\"");
      }
    }
  }

  /** Whether a text says that the JVM could not go on. */
  static boolean isOfTheJvm(String text) {
    return OF_THE_JVM.matcher(text).find();
  }
}
