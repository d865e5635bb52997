package io.erda.testbed;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The result of one configuration of the failing calls: the problems, and the output. */
final class ConfigurationResult {
  /** Text that users must not see: a Java type, a stack trace, a defect. */
  private static final Pattern UNTYPED =
      Pattern.compile(
          "(?m)^\\s+at [\\w.$/]+\\(|\\b(java|javax|jdk|sun)\\.[\\w.]*[A-Z]\\w+|internal error"
              + "|\\bio\\.erda\\.[\\w.]*[A-Z]\\w+|\\w+(Exception|Error)\\b");

  /** A call that writes to standard output or standard error. */
  private static final Pattern TO_SAY = Pattern.compile("^\\d+ +writev?\\([12]\\b");

  /** A call that wakes a thread of this process, or reads random bytes of the kernel. */
  private static final Pattern OF_NO_CONNECTION =
      Pattern.compile("^\\d+ +(read|write)v?\\(\\d+<(anon_inode|/dev/u?random)");

  /** Messages of a JVM that could not go on. */
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

  /** Takes a trace by strace. */
  void traced(String text) {
    trace = text;
  }

  String trace() {
    return trace;
  }

  /** Whether the call was made to fail, and not only calls that never fail in this way. */
  boolean isMet() {
    return isKilled() || trace.contains("(INJECTED)") && !isUnreal();
  }

  /** Whether the program was killed in the call. */
  boolean isKilled() {
    return trace.contains("+++ killed by SIGKILL +++");
  }

  /**
   * Whether an error of a connection hit a call that never fails in this way with a real kernel,
   * because it is of no connection: then the run proves nothing.
   */
  boolean isUnreal() {
    return trace
        .lines()
        .anyMatch(line -> line.contains("(INJECTED)") && OF_NO_CONNECTION.matcher(line).find());
  }

  /** Whether the JVM itself could not go on: its messages are not Erda's. */
  boolean isOfTheJvm() {
    return ofTheJvm;
  }

  /** Whether no call failed that writes a program's messages. */
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

  /** The whole output, for examining a failure. */
  String seen() {
    return seen.toString();
  }

  /** Takes the output of a program, and complains about text that users must not see. */
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
      // The missing class has no other name.
      var untyped = UNTYPED.matcher(text.replaceAll("a class can't be loaded \\([^)]*\\)", ""));
      if (untyped.find()) {
        complain(who + " says \"" + untyped.group().strip() + "\"");
      }
    }
  }

  /** Whether a text is the message of a JVM that could not go on. */
  static boolean isOfTheJvm(String text) {
    return OF_THE_JVM.matcher(text).find();
  }
}
