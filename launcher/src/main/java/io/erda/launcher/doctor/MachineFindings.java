package io.erda.launcher.doctor;

import io.erda.pmem.ControlGroup;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Processors and memory, and how much of them a container may use. */
final class MachineFindings {
  static List<Finding> of(Surroundings surroundings) {
    ControlGroup group = new ControlGroup(surroundings.proc(), surroundings.sys());
    return List.of(cores(surroundings, group), memory(surroundings, group));
  }

  private static Finding cores(Surroundings surroundings, ControlGroup group) {
    long machine =
        Surroundings.lines(surroundings.proc().resolve("cpuinfo")).stream()
            .filter(line -> line.startsWith("processor"))
            .count();
    int used = surroundings.java().processors();
    String found = used + " used by the JVM, of " + machine;
    double allowed = group.millicores() / 1000.0;
    if (allowed < Math.max(machine, 1)) {
      return Finding.note(
          "cores",
          found
              + String.format(
                  Locale.ROOT,
                  "; the control group allows %.1f at a time: who has used them up stands still"
                      + " until the next period",
                  allowed),
          "raise what the control group allows (a service: CPUQuota=; a container: --cpus)");
    }
    return used < machine
        ? Finding.note(
            "cores",
            found + ": this process may not run on the others",
            "taskset, AllowedCPUs= of the service, or --cpuset-cpus of the container")
        : Finding.ok("cores", found);
  }

  private static Finding memory(Surroundings surroundings, ControlGroup group) {
    long machine = total(surroundings.proc().resolve("meminfo"));
    long heap = surroundings.java().heapBytesMax();
    String found =
        (machine < 0 ? "unknown" : ByteText.of(machine))
            + ", the JVM's heap may have "
            + ByteText.of(heap);
    if (group.memoryBytes() == Long.MAX_VALUE) {
      return Finding.ok("memory", found);
    }
    found += "; the control group allows " + ByteText.of(group.memoryBytes());
    return heap >= group.memoryBytes()
        ? Finding.note(
            "memory",
            found + ": the kernel ends a JVM that takes it",
            "a smaller heap (ERDA_JAVA_OPTS=-Xmx256m), or more for the control group (a service:"
                + " MemoryMax=; a container: --memory)")
        : Finding.note(
            "memory",
            found + ", and the pages of the store's files count among it",
            "where the store is larger: more for the control group (a service: MemoryMax=; a"
                + " container: --memory)");
  }

  private static long total(Path meminfo) {
    for (String line : Surroundings.lines(meminfo)) {
      if (line.matches("MemTotal:\\s+[0-9]{1,15} kB")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    return -1;
  }

  private MachineFindings() {}
}
