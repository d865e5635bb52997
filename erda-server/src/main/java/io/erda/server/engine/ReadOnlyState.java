package io.erda.server.engine;

import io.erda.pmem.Backing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.function.Consumer;

/**
 * Whether a store takes no more puts and deletes, and why. Its files failed: what was written may
 * not be durable, or a file is not what it was, so nothing more is acknowledged until somebody has
 * looked and the store was opened again. Reads go on. One thread.
 */
final class ReadOnlyState {
  private final StoreEngine engine;
  private Consumer<String> listener = reason -> {};
  private String reason;

  ReadOnlyState(StoreEngine engine) {
    this.engine = engine;
  }

  /** Sets who is told the reason, once. */
  void onReadOnly(Consumer<String> told) {
    listener = told;
    if (reason != null) {
      told.accept(reason);
    }
  }

  boolean isSet() {
    return reason != null;
  }

  /** Null while the store takes puts. */
  String reason() {
    return reason;
  }

  /**
   * The work on the store's files ended with this: the first reason counts.
   *
   * @throws InternalError when it is one, and no file of the store was shortened: then it is none
   *     of the store's files that failed
   */
  void becauseOf(Throwable failure) {
    String why =
        switch (failure) {
          case UncheckedIOException e -> inWords(e);
          case InternalError e -> shortenedFile(e);
          case RuntimeException e -> throw e;
          case Error e -> throw e;
          default -> throw new IllegalStateException(failure);
        };
    if (reason == null) {
      reason = why;
      listener.accept(why);
    }
  }

  private static String inWords(UncheckedIOException e) {
    String said = e.getMessage();
    String cause = e.getCause().getMessage();
    return cause == null || said.contains(cause) ? said : said + ": " + cause;
  }

  private String shortenedFile(InternalError e) {
    for (Backing file : engine.files()) {
      long bytes = length(file);
      if (bytes < file.offset() + file.length()) {
        // Work on the store was cut off in the middle, wherever that was.
        engine.abandon();
        return "%s was shortened while it was in use: it has %d of %d bytes"
            .formatted(file.file(), bytes, file.offset() + file.length());
      }
    }
    throw e;
  }

  private static long length(Backing file) {
    try {
      return file.file() == null ? Long.MAX_VALUE : Files.size(file.file());
    } catch (IOException e) {
      // A file without a name has the length that it had.
      return Long.MAX_VALUE;
    }
  }
}
