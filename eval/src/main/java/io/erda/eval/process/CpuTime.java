package io.erda.eval.process;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The processor time of a process's threads at one moment, by the scheduler's account ({@code
 * /proc/PID/task/TID/schedstat}, in nanoseconds).
 */
public final class CpuTime {
  /** Nanoseconds on a processor, nanoseconds in its queue, and number of time slices. */
  private static final Pattern SCHEDSTAT = Pattern.compile("(\\d{1,18}) \\d+ \\d+\n");

  private final Map<String, Long> nsByThread;
  private final Map<String, String> names;

  private CpuTime(Map<String, Long> nsByThread, Map<String, String> names) {
    this.nsByThread = nsByThread;
    this.names = names;
  }

  /**
   * Reads the processor time of a process.
   *
   * @throws ProcessException when there is no such process, or the kernel keeps no account
   */
  public static CpuTime of(long pid) {
    Map<String, Long> ns = new HashMap<>();
    Map<String, String> names = new HashMap<>();
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path thread : threads) {
        read(thread, ns, names);
      }
    } catch (IOException e) {
      throw new ProcessException(
          "can't read the processor time of process " + pid + ": " + e.getMessage(), e);
    }
    return new CpuTime(ns, names);
  }

  /**
   * Nanoseconds that all threads have spent since {@code earlier}. It lacks the last part of
   * threads that ended in between, so a measured JVM runs with {@code
   * -XX:-UseDynamicNumberOfCompilerThreads} and similar flags.
   */
  public long since(CpuTime earlier) {
    long sum = 0;
    for (Map.Entry<String, Long> thread : nsByThread.entrySet()) {
      sum += thread.getValue() - earlier.nsByThread.getOrDefault(thread.getKey(), 0L);
    }
    return sum;
  }

  /**
   * Nanoseconds that one thread has spent since {@code earlier}.
   *
   * @param name of the thread, as the kernel has it: the first 15 characters
   * @throws ProcessException when not exactly one thread has that name
   */
  public long since(CpuTime earlier, String name) {
    String thread = thread(name);
    return nsByThread.get(thread) - earlier.nsByThread.getOrDefault(thread, 0L);
  }

  /**
   * The number of a thread in the kernel.
   *
   * @param name of the thread, as above
   * @throws ProcessException when not exactly one thread has that name
   */
  public long threadNumber(String name) {
    return Long.parseLong(thread(name));
  }

  private String thread(String name) {
    List<String> threads =
        names.entrySet().stream()
            .filter(thread -> thread.getValue().equals(name))
            .map(Map.Entry::getKey)
            .toList();
    if (threads.size() != 1) {
      throw new ProcessException(threads.size() + " threads named " + name + ", expected one");
    }
    return threads.getFirst();
  }

  /**
   * The first of the three numbers of a {@code schedstat}.
   *
   * @throws IOException when the text is something else
   */
  static long onProcessorNs(String schedstat) throws IOException {
    Matcher numbers = SCHEDSTAT.matcher(schedstat);
    if (!numbers.matches()) {
      throw new IOException("'" + schedstat.strip() + "' is no schedstat");
    }
    return Long.parseLong(numbers.group(1));
  }

  private static void read(Path thread, Map<String, Long> ns, Map<String, String> names)
      throws IOException {
    try {
      String text = Files.readString(thread.resolve("schedstat"));
      String id = thread.getFileName().toString();
      names.put(id, Files.readString(thread.resolve("comm")).strip());
      ns.put(id, onProcessorNs(text));
    } catch (NoSuchFileException e) {
      if (Files.exists(thread)) {
        throw new IOException("this kernel has no schedstat");
      }
    }
  }
}
