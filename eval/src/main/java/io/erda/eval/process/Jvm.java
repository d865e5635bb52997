package io.erda.eval.process;

import io.erda.console.LaunchSettings;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts other JVMs of the same build.
 *
 * @param java the launcher binary, or a command that starts it
 * @param flags of the JVM, after the words of such a command
 * @param serverFlags further flags of a server's process
 * @param classPath as for {@code -cp}
 */
public record Jvm(Path java, List<String> flags, List<String> serverFlags, String classPath) {
  private static final String LAUNCHER = "io.erda.launcher.Main";

  public Jvm {
    flags = List.copyOf(flags);
    serverFlags = List.copyOf(serverFlags);
  }

  /** Flags of this process that another one with the same class path also needs. */
  private static final List<String> HANDED_ON =
      List.of("-XX:AOTCache=", "-Xlog:", "-XX:+IgnoreUnrecognizedVMOptions");

  /**
   * The JVM and class path of this process, with the flags of this build and this process's class
   * cache, which makes starts quick.
   */
  public static Jvm current() {
    LaunchSettings settings = LaunchSettings.load();
    List<String> all = new ArrayList<>(settings.jvmFlags());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> HANDED_ON.stream().anyMatch(argument::startsWith))
        .forEach(all::add);
    return new Jvm(
        Path.of(System.getProperty("java.home"), "bin", "java"),
        all,
        settings.serverJvmFlags(),
        LaunchSettings.classPath());
  }

  /** A copy with more flags. */
  public Jvm with(String... more) {
    List<String> all = new ArrayList<>(flags);
    all.addAll(List.of(more));
    return new Jvm(java, all, serverFlags, classPath);
  }

  /**
   * A copy that is started by a command, to which its own command line is passed as the last
   * arguments.
   */
  public Jvm startedBy(List<String> command) {
    List<String> all = new ArrayList<>(command.subList(1, command.size()));
    all.add(java.toString());
    all.addAll(flags);
    return new Jvm(Path.of(command.getFirst()), all, serverFlags, classPath);
  }

  /** A copy without the class cache of our commands, as an application's JVM starts. */
  public Jvm withoutClassCache() {
    List<String> rest = flags.stream().filter(flag -> !flag.startsWith("-XX:AOTCache=")).toList();
    return new Jvm(java, rest, serverFlags, classPath);
  }

  /** A copy with more at the beginning of the class path. */
  public Jvm withBefore(String more) {
    return new Jvm(java, flags, serverFlags, more + File.pathSeparator + classPath);
  }

  /** A copy for a server's process. */
  Jvm ofServer() {
    return with(serverFlags.toArray(String[]::new));
  }

  /** A command line that runs a class. */
  public List<String> command(Class<?> main, String... arguments) {
    return command(main.getName(), arguments);
  }

  /** A command line that runs {@code ./erda ARGUMENTS} without the shell script. */
  public List<String> erda(String... arguments) {
    return command(LAUNCHER, arguments);
  }

  private List<String> command(String main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(java.toString());
    command.addAll(flags);
    command.add("-cp");
    command.add(classPath);
    command.add(main);
    command.addAll(List.of(arguments));
    return command;
  }
}
