package io.erda.eval.peers.process;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The parameters of the processes of a system.
 *
 * @param directory of the system, with its store or for a new one
 * @param objects of {@code valueBytes} each, which it will hold
 * @param pipelined whether many puts are made at once
 */
public record PeerSetup(
    Children children,
    Jvm jvm,
    PeerLibraries libraries,
    PeerSystem system,
    Path directory,
    long objects,
    int valueBytes,
    boolean pipelined) {
  /** The directory of a store that has files. */
  Path data() {
    return directory.resolve("data");
  }

  /** Returns the data directory, which is made if necessary. */
  Path madeData() {
    try {
      return Files.createDirectories(data());
    } catch (IOException e) {
      throw new ProcessException("can't make " + data() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Starts a process that opens the store and reports it. It has no class cache, as a user's.
   *
   * @param adapter class of the {@link io.erda.eval.peers.store.PeerStore}
   * @param location of the store
   */
  Child startWorker(String adapter, String location) {
    Jvm own = jvm.withoutClassCache().with(system.flags().toArray(String[]::new));
    if (system.hasJar()) {
      // Some libraries unpack files or write to the home directory, which are not removed after a
      // kill.
      own =
          own.withBefore(libraries.classPath())
              .with("-Djava.io.tmpdir=" + directory, "-Duser.home=" + directory);
    }
    return children.start(
        system.title(),
        own.command(
            PeerWorker.class,
            adapter,
            location,
            Long.toString(objects),
            Integer.toString(valueBytes),
            Boolean.toString(pipelined)));
  }
}
