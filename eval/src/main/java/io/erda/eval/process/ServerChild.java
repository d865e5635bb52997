package io.erda.eval.process;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process that runs {@code ./erda server}. Owned by the {@link Children} it was started with. */
public final class ServerChild {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

  /** Keeps the JVM from ending threads, so that their processor time can be measured. */
  private static final String[] STEADY_THREADS = {
    "-XX:-UseDynamicNumberOfCompilerThreads", "-XX:-UseDynamicNumberOfGCThreads"
  };

  private final Children children;
  private final Child child;
  private final Path data;
  private final String uri;

  private ServerChild(Children children, Child child, Path data, String uri) {
    this.children = children;
    this.child = child;
    this.data = data;
    this.uri = uri;
  }

  /** Starts a server; it may not serve yet when this returns. */
  public static ServerChild spawn(Children children, Jvm jvm, Path data, List<String> options) {
    List<String> arguments =
        new ArrayList<>(List.of("server", "--data", data.toString(), "--child"));
    arguments.addAll(options);
    Child child =
        children.start(
            "the server",
            jvm.ofServer().with(STEADY_THREADS).erda(arguments.toArray(String[]::new)));
    String uri = DeviceChoice.ofServer(options).uri(options, data.toString());
    return new ServerChild(children, child, data, uri);
  }

  /** Starts a server and waits until it serves. */
  public static ServerChild start(Children children, Jvm jvm, Path data, List<String> options) {
    ServerChild server = spawn(children, jvm, data, options);
    server.awaitServing();
    return server;
  }

  /** Waits until its JVM has started and it begins to open the store. */
  public void awaitOpening() {
    child.await("opening ", START_TIMEOUT);
  }

  /** Waits until it serves. */
  public void awaitServing() {
    child.await("serving ", START_TIMEOUT);
  }

  /** Whether it began to serve; waits at most {@code timeout}. False when it ended before. */
  public boolean serves(Duration timeout) {
    try {
      child.await("serving ", timeout);
      return true;
    } catch (ProcessException e) {
      return false;
    }
  }

  /** The URI for clients: over the network if it listens on one, otherwise over shared memory. */
  public String uri() {
    return uri;
  }

  public long pid() {
    return child.pid();
  }

  public Path data() {
    return data;
  }

  public boolean isAlive() {
    return child.isAlive();
  }

  /** Its processor time so far. */
  public CpuTime cpu() {
    return CpuTime.of(child.pid());
  }

  /** The end of its standard error. */
  public String errors() {
    return child.errorTail();
  }

  /** Kills it, as {@code kill -9} does. */
  public void kill() {
    child.kill();
    children.forget(child);
  }

  /**
   * Ends it cleanly.
   *
   * @throws ProcessException when that fails
   */
  public void stop() {
    child.end();
    int exitCode = child.awaitEnd(Duration.ofSeconds(1));
    children.forget(child);
    if (exitCode != 0) {
      throw new ProcessException("the server ended with exit code " + exitCode + child.errorTail());
    }
  }
}
