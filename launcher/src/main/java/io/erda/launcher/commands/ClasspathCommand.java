package io.erda.launcher.commands;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda classpath}: what another application needs to embed a client or a store. */
@Command(
    name = "classpath",
    description = "Print the class path, or the JVM flags, for embedding Erda.",
    footer = {
      "",
      "  java $(./erda classpath --flags) -cp \"$(./erda classpath):app.jar\" com.example.App",
      "  java $(./erda classpath --flags) -cp \"$(./erda classpath)\" site.ycsb.Client ..."
    })
public final class ClasspathCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--flags", description = "Print the JVM flags instead of the class path.")
  private boolean flags;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        flags ? String.join(" ", LaunchSettings.load().jvmFlags()) : LaunchSettings.classPath());
    return 0;
  }
}
