package io.erda.eval.peers.process;

import io.erda.eval.process.Child;
import io.erda.eval.process.Children;
import io.erda.eval.process.Jvm;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.ServerChild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A system with a store in a directory: the process that uses it, and Erda's server where there is
 * one. What is measured is the using process, which starts without a class cache, as a user's
 * would.
 */
public final class PeerProcess implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
  private static final Duration ANSWER_TIMEOUT = Duration.ofMinutes(30);

  private final PeerSystem system;
  private final Children children;
  private final ServerChild server;
  private final Child child;
  private String durability;

  private PeerProcess(PeerSystem system, Children children, ServerChild server, Child child) {
    this.system = system;
    this.children = children;
    this.server = server;
    this.child = child;
  }

  /**
   * Opens the store in a directory, or makes one there.
   *
   * @param objects of {@code valueBytes} each, which it will hold
   * @param pipelined whether its puts are many at once
   */
  public static PeerProcess start(
      Children children,
      Jvm jvm,
      PeerLibraries libraries,
      PeerSystem system,
      Path directory,
      long objects,
      int valueBytes,
      boolean pipelined) {
    Path data = directory.resolve("data");
    ServerChild server = null;
    String location = data.toString();
    if (system.hasServer()) {
      server = ServerChild.start(children, jvm, data, List.of());
      location = server.uri();
    } else {
      make(data);
    }
    Jvm own = jvm.withoutClassCache().with(system.flags().toArray(String[]::new));
    if (!system.isErda()) {
      // Some unpack libraries or write to the home directory, and nobody removes that after a kill.
      own =
          own.withBefore(libraries.classPath())
              .with("-Djava.io.tmpdir=" + directory, "-Duser.home=" + directory);
    }
    Child child =
        children.start(
            system.title(),
            own.command(
                PeerWorker.class,
                system.adapter(),
                location,
                Long.toString(objects),
                Integer.toString(valueBytes),
                Boolean.toString(pipelined)));
    PeerProcess process = new PeerProcess(system, children, server, child);
    try {
      String opened = child.await(PeerAnswer.OPEN, START_TIMEOUT);
      process.durability = PeerAnswer.durability(system.title(), opened);
      return process;
    } catch (ProcessException e) {
      process.close();
      throw e;
    }
  }

  private static void make(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new ProcessException("can't make " + directory + ": " + e.getMessage(), e);
    }
  }

  /** What a put that has returned survives, in words. */
  public String durability() {
    return durability;
  }

  /** Puts every object once. Returns nanoseconds each. */
  public double load() {
    return ask("load");
  }

  /**
   * Gets every object once.
   *
   * @throws ProcessException when one is not there, or is another
   */
  public void verify() {
    ask("verify");
  }

  /** Puts objects at random for a time. Returns nanoseconds each. */
  public double put(Duration time) {
    return ask("put " + time.toNanos());
  }

  /** Gets objects at random for a time. Returns nanoseconds each. */
  public double get(Duration time) {
    return ask("get " + time.toNanos());
  }

  private double ask(String line) {
    child.tell(line);
    return PeerAnswer.nsPerOperation(system.title(), child.await(PeerAnswer.DONE, ANSWER_TIMEOUT));
  }

  /** The process that uses the store. */
  public long pid() {
    return child.pid();
  }

  /** Kills its processes where they are: what was put must be there all the same. */
  @Override
  public void close() {
    child.kill();
    children.forget(child);
    if (server != null) {
      server.kill();
    }
  }
}
