package io.erda.eval.commands;

import io.erda.client.ErdaClient;
import io.erda.console.UserError;
import io.erda.ycsb.CheckedExporter;
import io.erda.ycsb.ErdaDb;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Workload;

/**
 * The stock {@code site.ycsb.Client} in this process. It exits with 0 even when a class is missing
 * or operations fail, so this class checks as much as possible before, and the operations' results
 * afterwards.
 *
 * @param files of workloads; later ones win
 * @param properties {@code NAME=VALUE}, which win over the files
 * @param threads null when it was not given, like {@code target} and {@code label}
 * @param db the binding's class
 */
record YcsbRun(
    YcsbCommand.Phase phase,
    List<Path> files,
    List<String> properties,
    Integer threads,
    Integer target,
    boolean status,
    String label,
    String db) {
  private static final String EXPORTER = "exporter";

  private static final List<String> NUMBERS =
      List.of(
          "recordcount",
          "operationcount",
          "insertcount",
          "insertstart",
          "fieldcount",
          "fieldlength",
          "threadcount");

  YcsbRun {
    files = List.copyOf(files);
    properties = List.copyOf(properties);
    db = db == null ? ErdaDb.class.getName() : db;
  }

  /** Does not return once YCSB's client has begun, which ends the JVM. */
  int call(PrintWriter err) throws Exception {
    Properties all = allProperties();
    requireClass(all.getProperty("workload"), Workload.class, "property workload");
    requireClass(db, DB.class, "-db");
    if (all.containsKey(EXPORTER)) {
      throw new UserError(
          "property "
              + EXPORTER
              + " is taken by the check of the result; site.ycsb.Client takes it (see ./erda"
              + " classpath)",
          2);
    }
    if (threads != null && threads < 1) {
      throw new UserError("-threads must be at least 1: " + threads, 2);
    }
    if (target != null && target < 1) {
      throw new UserError("-target must be at least 1: " + target, 2);
    }
    requireNumbers(all);
    long expected = expectedOperations(all);
    if (db.equals(ErdaDb.class.getName())) {
      requireStore(all);
    }
    exitByOutcome(expected, err);
    site.ycsb.Client.main(arguments());
    return 0; // not reached: YCSB ends the JVM
  }

  private Properties allProperties() throws IOException {
    Properties all = new Properties();
    for (Path file : files) {
      if (Files.isDirectory(file)) {
        throw new UserError("-P is a directory: " + file, 2);
      }
      try (Reader reader = Files.newBufferedReader(file)) {
        all.load(reader);
      }
    }
    for (String property : properties) {
      int equals = property.indexOf('=');
      if (equals <= 0) {
        throw new UserError("-p wants NAME=VALUE: " + property, 2);
      }
      all.setProperty(property.substring(0, equals), property.substring(equals + 1));
    }
    return all;
  }

  private static void requireClass(String name, Class<?> type, String where) {
    if (name == null) {
      throw new UserError(where + " is missing; the files in workloads/ set it", 2);
    }
    try {
      if (!type.isAssignableFrom(Class.forName(name))) {
        throw new UserError(where + ": " + name + " is no " + type.getName(), 2);
      }
    } catch (ClassNotFoundException e) {
      throw new UserError(where + ": no such class: " + name, 2, e);
    }
  }

  /** How many operations must answer OK; 0 when only time limits them. */
  private long expectedOperations(Properties all) {
    if (number("maxexecutiontime", all.getProperty("maxexecutiontime", "0")) > 0) {
      return 0;
    }
    String name =
        phase == YcsbCommand.Phase.RUN
            ? "operationcount"
            : all.containsKey("insertcount") ? "insertcount" : "recordcount";
    String text = all.getProperty(name);
    if (text == null) {
      throw new UserError("property " + name + " is missing", 2);
    }
    return number(name, text);
  }

  /**
   * Refuses invalid numbers, for which YCSB would end with a stack trace, or use some other value.
   */
  private static void requireNumbers(Properties all) {
    for (String property : NUMBERS) {
      if (all.containsKey(property)) {
        number(property, all.getProperty(property));
      }
    }
  }

  private static long number(String property, String text) {
    try {
      long number = Long.parseLong(text.strip());
      if (number < 0) {
        throw new UserError("property " + property + " is negative: " + text, 2);
      }
      return number;
    } catch (NumberFormatException e) {
      throw new UserError("property " + property + " is not a number: " + text, 2, e);
    }
  }

  /** Checks the store, because YCSB prints a stack trace for each thread that can't begin. */
  private static void requireStore(Properties all) {
    String uri = all.getProperty(ErdaDb.URI);
    if (uri == null) {
      throw new UserError(
          "property erda.uri is missing, for example -p erda.uri=erda+shm:/var/lib/erda", 2);
    }
    try {
      ErdaDb.requireValid(all);
    } catch (DBException e) {
      throw new UserError(e.getMessage(), 2, e);
    }
    ErdaClient.connect(uri).close();
  }

  private String[] arguments() {
    List<String> arguments =
        new ArrayList<>(List.of(phase == YcsbCommand.Phase.LOAD ? "-load" : "-t", "-db", db));
    files.forEach(file -> arguments.addAll(List.of("-P", file.toString())));
    properties.forEach(property -> arguments.addAll(List.of("-p", property)));
    arguments.addAll(List.of("-p", EXPORTER + "=" + CheckedExporter.class.getName()));
    if (threads != null) {
      arguments.addAll(List.of("-threads", threads.toString()));
    }
    if (target != null) {
      arguments.addAll(List.of("-target", target.toString()));
    }
    if (label != null) {
      arguments.addAll(List.of("-l", label));
    }
    if (status) {
      arguments.add("-s");
    }
    return arguments.toArray(String[]::new);
  }

  /** Sets the exit code in a hook, because YCSB ends the JVM itself with 0. */
  private static void exitByOutcome(long expected, PrintWriter err) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  String failure =
                      System.out.checkError()
                          ? "can't write to standard output"
                          : failure(CheckedExporter.outcome(), expected);
                  if (failure != null) {
                    err.println("erda: " + failure);
                    err.flush();
                    Runtime.getRuntime().halt(1);
                  }
                },
                "check-outcome"));
  }

  /** The message about a run that did not do all operations; null when it did. */
  static String failure(CheckedExporter.Outcome outcome, long expected) {
    if (outcome == null) {
      return "YCSB ended before it had a result";
    }
    if (!outcome.failures().isEmpty()) {
      return "operations failed: " + outcome.failures();
    }
    return outcome.succeeded() < expected
        ? "only " + outcome.succeeded() + " of " + expected + " operations were done"
        : null;
  }
}
