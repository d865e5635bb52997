package io.erda.server;

import io.erda.pmem.Creation;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.service.FileWork;

/**
 * The server's two other threads for files. One makes the files of future regions, see {@link
 * FileMaker}; the other prepares pages and gives them back, see {@link PageKeeper}.
 *
 * <p>Close it before the store's memory.
 */
final class FileThreads implements FileWork, AutoCloseable {
  private final PageKeeper pages;
  private final FileMaker files;

  FileThreads(int heads, Failures failures) {
    this.pages = new PageKeeper(heads, PageKeeper.aheadBytes(heads), failures);
    boolean done = false;
    try {
      this.files = new FileMaker(pages::made, failures);
      done = true;
    } finally {
      if (!done) {
        pages.close();
      }
    }
  }

  @Override
  public Creation creating(Creation creation) {
    return files.creating(creation);
  }

  @Override
  public void release(PersistentMemory memory) {
    pages.release(memory);
  }

  @Override
  public boolean releasing() {
    return pages.releasing();
  }

  @Override
  public void appending(int head, PersistentMemory memory, long place) {
    pages.appending(head, memory, place);
  }

  /** How often pages could not be prepared or given back. */
  long failures() {
    return pages.failures();
  }

  @Override
  public void close() {
    files.close();
    pages.close();
  }
}
