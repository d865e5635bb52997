package io.erda.testbed;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Starts JVMs on the host with the store under test on their class path.
 *
 * @param java the program
 * @param flags of every JVM with Erda in it
 * @param classPath of the store and this module
 */
record HostJvm(String java, List<String> flags, String classPath) {
  List<String> command(String main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(java);
    command.addAll(flags);
    command.addAll(
        List.of(
            "-XX:-UsePerfData",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath,
            main));
    command.addAll(Arrays.asList(arguments));
    return command;
  }
}
