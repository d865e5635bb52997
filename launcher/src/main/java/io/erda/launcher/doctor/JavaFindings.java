package io.erda.launcher.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The Java virtual machine, its flags, and what it runs on. */
final class JavaFindings {
  private static final int FEATURE_MIN = 25;
  private static final Set<String> ARCHITECTURES = Set.of("amd64", "x86_64", "aarch64");

  static List<Finding> of(JavaMachine java, List<String> flags) {
    return List.of(version(java), flags(java, flags), system(java));
  }

  private static Finding version(JavaMachine java) {
    return java.feature() >= FEATURE_MIN
        ? Finding.ok("java", java.version())
        : Finding.wrong(
            "java",
            java.version() + ": Erda needs a JDK " + FEATURE_MIN,
            "install a JDK 25 (for example temurin-25-jdk), or name it in ERDA_JAVA_HOME");
  }

  private static Finding flags(JavaMachine java, List<String> flags) {
    List<String> missing = new ArrayList<>(flags);
    missing.removeAll(java.arguments());
    return missing.isEmpty()
        ? Finding.ok("java flags", String.join(" ", flags))
        : Finding.note(
            "java flags",
            "not given: "
                + String.join(" ", missing)
                + "; the JVM warns without them, and later ones will refuse",
            "start it with ./erda, or with java $(./erda classpath --flags)");
  }

  private static Finding system(JavaMachine java) {
    String is = java.system() + " on " + java.architecture();
    if (!java.system().equals("Linux")) {
      return Finding.wrong("system", is + ": mapped memory needs Linux", "run Erda on Linux");
    }
    return ARCHITECTURES.contains(java.architecture())
        ? Finding.ok("system", is)
        : Finding.note(
            "system", is + ": Erda was never tried on this processor", "use amd64 or aarch64");
  }

  private JavaFindings() {}
}
