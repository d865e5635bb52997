package io.erda.eval.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A process that communicates by lines on its standard input and output; its standard error is kept
 * for messages. Owned by {@link Children}. Used by one thread.
 */
public final class Child {
  private static final int ERROR_LINES_KEPT = 20;
  private static final Duration END_TIMEOUT = Duration.ofSeconds(5);

  /** The exit codes after SIGINT and SIGTERM, and of a server that ended cleanly after either. */
  private static final Set<Integer> ENDED_BY_SIGNAL = Set.of(0, 130, 143);

  private static final Object END = new Object();

  private final String name;
  private final Process process;
  private final BooleanSupplier exiting;
  private final BlockingQueue<Object> lines = new LinkedBlockingQueue<>();
  private final Deque<String> errors = new ArrayDeque<>();
  private final Thread errorReader;

  /**
   * Takes over a new process.
   *
   * @param exiting whether this JVM is ending
   */
  Child(String name, Process process, BooleanSupplier exiting) {
    this.name = name;
    this.process = process;
    this.exiting = exiting;
    pump(process.getInputStream(), "-out", lines::add, () -> lines.add(END));
    this.errorReader = pump(process.getErrorStream(), "-err", this::keepError, () -> {});
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Writes a line to its standard input. */
  public void tell(String line) {
    try {
      OutputStream in = process.getOutputStream();
      in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      in.flush();
    } catch (IOException e) {
      throw ended(e);
    }
  }

  /**
   * The next line, or null when the time has passed.
   *
   * @throws ProcessException when it ended instead, with its standard error
   */
  @SuppressWarnings("ReferenceEquality") // END is no line
  public String poll(Duration timeout) {
    try {
      Object line = lines.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
      if (line == END) {
        lines.add(END);
        throw ended(null);
      }
      return (String) line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessException("interrupted while waiting for " + name, e);
    }
  }

  /**
   * The next line that begins with {@code prefix}; others are skipped.
   *
   * @throws ProcessException when it ended instead, or the time has passed
   */
  public String await(String prefix, Duration timeout) {
    long endNs = System.nanoTime() + timeout.toNanos();
    while (true) {
      long leftNs = endNs - System.nanoTime();
      String line = leftNs <= 0 ? null : poll(Duration.ofNanos(leftNs));
      if (line == null) {
        throw new ProcessException(
            name
                + " did not answer '"
                + prefix.strip()
                + "' within "
                + timeout.toMillis()
                + " ms"
                + errorTail());
      }
      if (line.startsWith(prefix)) {
        return line;
      }
    }
  }

  /**
   * Waits until a condition holds.
   *
   * @param what the expected event, for messages
   * @throws ProcessException when it ended instead, or the time has passed
   */
  public void awaitThat(String what, BooleanSupplier isSo, Duration timeout) {
    long endNs = System.nanoTime() + timeout.toNanos();
    while (!isSo.getAsBoolean()) {
      poll(Duration.ofMillis(20));
      if (System.nanoTime() > endNs) {
        throw new ProcessException(
            name + " did not " + what + " within " + timeout.toMillis() + " ms" + errorTail());
      }
    }
  }

  /**
   * Waits for its end.
   *
   * @return the exit code, or -1 when the time has passed first
   */
  public int awaitEnd(Duration timeout) {
    try {
      return process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS) ? process.exitValue() : -1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessException("interrupted while waiting for the end of " + name, e);
    }
  }

  /** Kills it, as {@code kill -9} does, and waits until it is gone. */
  public void kill() {
    process.destroyForcibly();
    if (awaitEnd(END_TIMEOUT) < 0 && process.isAlive()) {
      throw new ProcessException(name + " (process " + pid() + ") does not end on SIGKILL");
    }
  }

  /**
   * Asks it to end with SIGTERM, and kills it if it does not. Never throws for a process that is
   * gone.
   */
  public void end() {
    boolean interrupted = Thread.interrupted();
    try {
      process.destroy();
      if (!process.waitFor(END_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)) {
        process.destroyForcibly().waitFor(END_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      interrupted = true;
      process.destroyForcibly();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The end of its standard error, on one line, with a separator before; empty when there is none.
   */
  public String errorTail() {
    synchronized (errors) {
      return errors.isEmpty()
          ? ""
          : ": " + errors.stream().map(String::strip).collect(Collectors.joining("; "));
    }
  }

  private ProcessException ended(Throwable cause) {
    int exitCode = awaitEnd(END_TIMEOUT);
    try {
      if (ENDED_BY_SIGNAL.contains(exitCode)) {
        letThisJvmEnd();
      }
      errorReader.join(1000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new ProcessException(name + " ended with exit code " + exitCode + errorTail(), cause);
  }

  /**
   * Handles a child that ended by Ctrl-C, which reaches every process of the group: when this JVM
   * is ending, too, the child's end is not reported.
   */
  private void letThisJvmEnd() throws InterruptedException {
    for (int i = 0; i < 30 && !exiting.getAsBoolean(); i++) {
      Thread.sleep(10);
    }
    if (exiting.getAsBoolean()) {
      Thread.sleep(END_TIMEOUT.multipliedBy(10)); // ends with the JVM
    }
  }

  private void keepError(String line) {
    synchronized (errors) {
      errors.addLast(line);
      if (errors.size() > ERROR_LINES_KEPT) {
        errors.removeFirst();
      }
    }
  }

  private Thread pump(InputStream from, String suffix, Consumer<String> to, Runnable atEnd) {
    Thread thread =
        new Thread(
            () -> {
              try (BufferedReader reader =
                  new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                  to.accept(line);
                }
              } catch (IOException e) {
                // The pipe of a killed process: only its end matters.
              } finally {
                atEnd.run();
              }
            },
            name + suffix);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
