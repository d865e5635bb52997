package io.erda.eval.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** A description of this machine, in words. */
public final class Machine {
  /** The name of the time at which the machine was described. */
  static final String WHEN = "when";

  /**
   * Returns the properties on which figures depend, by their names, in an order for reading.
   *
   * @param stores the directory in which stores are made
   */
  public static Map<String, String> describe(Path stores) throws IOException {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put(
        WHEN,
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm 'UTC'", Locale.ROOT)
            .format(Instant.now().atOffset(ZoneOffset.UTC)));
    machine.put(
        "processor", value("/proc/cpuinfo", "model name") + ", " + processors() + " cores for us");
    machine.put("memory", gibibytes(value("/proc/meminfo", "MemTotal")));
    machine.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("file system of stores", Files.getFileStore(stores).type());
    machine.put(
        "Java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    return machine;
  }

  /** The kernel says kB and means 1,024 bytes. */
  private static String gibibytes(String kernels) {
    return kernels.matches("\\d{1,15} kB")
        ? String.format(
            Locale.ROOT, "%.1f GiB", Long.parseLong(kernels.split(" ", 2)[0]) / (double) (1 << 20))
        : kernels;
  }

  private static int processors() {
    return Runtime.getRuntime().availableProcessors();
  }

  /** Returns the text after the colon in the first line that begins with a name. */
  private static String value(String file, String name) {
    try (Stream<String> lines = Files.lines(Path.of(file))) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }

  private Machine() {}
}
