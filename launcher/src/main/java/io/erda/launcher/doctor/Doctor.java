package io.erda.launcher.doctor;

import java.util.ArrayList;
import java.util.List;

/** Examines everything, and changes nothing. */
public final class Doctor {
  /**
   * All findings, in a readable order.
   *
   * @param flags the flags that a JVM with Erda in it is started with
   */
  public static List<Finding> examine(Surroundings surroundings, List<String> flags) {
    List<Finding> all = new ArrayList<>();
    all.addAll(JavaFindings.of(surroundings.java(), flags));
    all.addAll(MachineFindings.of(surroundings));
    all.addAll(LimitFindings.of(surroundings));
    all.addAll(DirectoryFindings.of(surroundings));
    all.addAll(FileSystemFindings.of(surroundings));
    all.addAll(PersistentMemoryFindings.of(surroundings));
    all.addAll(RdmaFindings.of(surroundings));
    return all;
  }

  private Doctor() {}
}
