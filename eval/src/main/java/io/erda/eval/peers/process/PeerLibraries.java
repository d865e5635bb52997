package io.erda.eval.peers.process;

import io.erda.eval.process.Programs;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The available stores for comparison with Erda. Jars and their adapters are not part of a build:
 * {@code ./erda} fetches them on demand, and passes their location. Servers are installed programs.
 * One thread.
 */
public final class PeerLibraries {
  /** A property that names a file of one line, a class path. */
  public static final String PROPERTY = "erda.peers";

  /**
   * A property with the name under which users call an unpacked program, which has no sources to
   * build from.
   */
  private static final String PACKED = "erda.command";

  private final List<Path> jars;
  private final Map<PeerSystem, String> titles = new EnumMap<>(PeerSystem.class);

  private PeerLibraries(List<Path> jars) {
    this.jars = jars;
  }

  /** The libraries that this process was started with. */
  public static PeerLibraries installed() {
    String file = System.getProperty(PROPERTY);
    return file == null ? new PeerLibraries(List.of()) : listed(Path.of(file));
  }

  /** The libraries on the class path in a file. */
  public static PeerLibraries listed(Path file) {
    try {
      return new PeerLibraries(
          Stream.of(Files.readString(file).strip().split(File.pathSeparator))
              .map(Path::of)
              .filter(Files::isReadable)
              .toList());
    } catch (IOException e) {
      return new PeerLibraries(List.of());
    }
  }

  /** Why a system can't be measured; empty when it can. */
  public Optional<String> missing(PeerSystem system) {
    if (!system.program().isEmpty()) {
      return Programs.find(system.program()).isPresent()
          ? Optional.empty()
          : Optional.of(Programs.missing(system.program()));
    }
    return !system.hasJar() || jar(system).isPresent()
        ? Optional.empty()
        : Optional.of(
            system.artifact()
                + " is not here: "
                + (System.getProperty(PACKED) == null
                    ? "./erda eval run fetches it for this experiment, with a network"
                    : "an unpacked program can't fetch it; a source tree's ./erda eval run does"));
  }

  /** The title of a system, with its version unless it is Erda's. */
  public String title(PeerSystem system) {
    return titles.computeIfAbsent(
        system,
        any ->
            version(system)
                .map(version -> system.title().replaceFirst(",", " " + version + ","))
                .orElse(system.title()));
  }

  private Optional<String> version(PeerSystem system) {
    if (!system.program().isEmpty()) {
      return Programs.find(system.program()).flatMap(Programs::version);
    }
    return jar(system)
        .map(jar -> {
          String file = jar.getFileName().toString();
          return file.substring(system.artifact().length() + 1, file.length() - 4);
        });
  }

  String classPath() {
    return String.join(File.pathSeparator, jars.stream().map(Path::toString).toList());
  }

  private Optional<Path> jar(PeerSystem system) {
    String start = system.artifact() + "-";
    return !system.hasJar()
        ? Optional.empty()
        : jars.stream().filter(jar -> jar.getFileName().toString().startsWith(start)).findFirst();
  }
}
