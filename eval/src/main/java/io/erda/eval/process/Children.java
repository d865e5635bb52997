package io.erda.eval.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Owns processes and temporary directories. Closing ends every process by its handle, in reverse
 * order and in bounded time, and then removes the directories; so does the end of this JVM, even by
 * Ctrl-C. Any thread may call any method.
 */
public final class Children implements AutoCloseable {
  /** How long an empty directory may still get files from processes that end late. */
  private static final long LATECOMERS_NS = 5_000_000_000L;

  private final Deque<Child> children = new ArrayDeque<>();
  private final Deque<Path> directories = new ArrayDeque<>();
  private final Deque<Runnable> afterwards = new ArrayDeque<>();
  private final Thread atExit = new Thread(this::endAtExit, "end-children");
  private boolean closed;
  private volatile boolean exiting;

  public Children() {
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Starts a process.
   *
   * @param name for messages
   * @throws ProcessException when it can't be started
   */
  public Child start(String name, List<String> command) {
    synchronized (this) {
      requireOpen(name);
      try {
        Child child = new Child(name, new ProcessBuilder(command).start(), () -> exiting);
        children.push(child);
        return child;
      } catch (IOException e) {
        throw new ProcessException("can't start " + name + ": " + e.getMessage(), e);
      }
    }
  }

  /** Makes a directory that is removed, with all in it, when this is closed. */
  public Path temporaryDirectory(Path parent, String prefix) {
    synchronized (this) {
      requireOpen(prefix);
      try {
        Path directory = Files.createTempDirectory(parent, prefix);
        directories.push(directory);
        return directory;
      } catch (IOException e) {
        throw new ProcessException(
            "can't make a temporary directory in " + parent + ": " + e.getMessage(), e);
      }
    }
  }

  /** Removes a temporary directory, which must not be in use any more, before this is closed. */
  public void removeNow(Path directory) {
    remove(directory);
    keep(directory);
  }

  /** Keeps a temporary directory, for inspection. */
  public synchronized void keep(Path directory) {
    directories.remove(directory);
  }

  /**
   * Runs a task when this is closed and every process has ended.
   *
   * @throws ProcessException when it is closed already; then the task is run at once
   */
  public synchronized void afterwards(Runnable what) {
    if (closed) {
      what.run();
    }
    requireOpen("all was made");
    afterwards.push(what);
  }

  /** Removes a child that has ended. */
  public synchronized void forget(Child child) {
    if (!child.isAlive()) {
      children.remove(child);
    }
  }

  @Override
  public void close() {
    endAll();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The JVM is ending: the hook runs, and finds nothing left to do.
    }
  }

  private void endAtExit() {
    exiting = true;
    endAll();
  }

  private synchronized void endAll() {
    closed = true;
    while (!children.isEmpty()) {
      children.pop().end();
    }
    UncheckedIOException left = null;
    while (!afterwards.isEmpty()) {
      try {
        afterwards.pop().run();
      } catch (UncheckedIOException e) {
        left = e;
      }
    }
    while (!directories.isEmpty()) {
      try {
        remove(directories.pop());
      } catch (UncheckedIOException e) {
        left = e;
      }
    }
    if (left != null) {
      throw left;
    }
  }

  private void requireOpen(String name) {
    if (closed) {
      throw new ProcessException("interrupted before " + name + " was started");
    }
  }

  /**
   * Removes a directory although a process that is being ended may still make files in it. The
   * directory is renamed first, so that only files that are just being made, which are few, can get
   * in the way.
   */
  private static void remove(Path directory) {
    try {
      Path renamed = directory.resolveSibling(directory.getFileName() + "-removed");
      removeRenamed(Files.move(directory, renamed));
    } catch (NoSuchFileException e) {
      // Another thread or process has removed it.
    } catch (IOException e) {
      throw new UncheckedIOException("can't remove " + directory, e);
    }
  }

  private static void removeRenamed(Path directory) throws IOException {
    long untilNs = 0;
    while (true) {
      try {
        Files.walkFileTree(directory, new Remover());
        return;
      } catch (DirectoryNotEmptyException e) {
        long now = System.nanoTime();
        untilNs = untilNs == 0 ? now + LATECOMERS_NS : untilNs;
        if (now - untilNs > 0) {
          throw e;
        }
      }
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path visited, IOException e) throws IOException {
      Files.deleteIfExists(visited);
      return FileVisitResult.CONTINUE;
    }
  }
}
