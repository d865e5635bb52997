package io.erda.launcher.doctor;

import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * A Java virtual machine, as it describes itself.
 *
 * @param feature the first number of its version
 * @param version the whole version
 * @param arguments the arguments that it was started with
 * @param processors how many it uses
 * @param heapBytesMax the largest size of its heap
 * @param system the operating system
 * @param architecture the architecture of the processor
 */
public record JavaMachine(
    int feature,
    String version,
    List<String> arguments,
    int processors,
    long heapBytesMax,
    String system,
    String architecture) {
  public JavaMachine {
    arguments = List.copyOf(arguments);
  }

  /** The current JVM. */
  static JavaMachine current() {
    return new JavaMachine(
        Runtime.version().feature(),
        Runtime.version().toString(),
        ManagementFactory.getRuntimeMXBean().getInputArguments(),
        Runtime.getRuntime().availableProcessors(),
        Runtime.getRuntime().maxMemory(),
        System.getProperty("os.name"),
        System.getProperty("os.arch"));
  }
}
