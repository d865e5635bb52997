package io.erda.launcher.commands;

import io.erda.console.LaunchSettings;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda classpath}: what another application needs to embed a client or a store. */
@Command(
    name = "classpath",
    description = "Print the class path, the JVM flags, or the Java, for embedding Erda.",
    footer = {
      "",
      "  java=$(./erda classpath --java)",
      "  $java $(./erda classpath --flags) -cp \"$(./erda classpath):app.jar\" com.example.App",
      "  $java $(./erda classpath --flags) -cp \"$(./erda classpath)\" site.ycsb.Client ..."
    })
public final class ClasspathCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--flags", description = "Print the JVM flags instead of the class path.")
  private boolean flags;

  @Option(
      names = "--java",
      description = "Print which java this is, instead of the class path; an older one won't do.")
  private boolean java;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    if (java) {
      out.println(Path.of(System.getProperty("java.home"), "bin", "java"));
    } else if (flags) {
      out.println(String.join(" ", LaunchSettings.load().jvmFlags()));
    } else {
      out.println(LaunchSettings.classPath());
    }
    return 0;
  }
}
