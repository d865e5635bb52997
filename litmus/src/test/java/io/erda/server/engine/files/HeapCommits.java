package io.erda.server.engine.files;

import io.erda.pmem.HeapDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Makes files of commits outside of any file system. */
final class HeapCommits {
  private HeapCommits() {}

  static CommitsFile make() {
    try {
      return CommitsFile.create(new HeapDirectory());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
