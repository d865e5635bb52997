package io.erda.server.engine;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.function.Function;
import java.util.function.Predicate;

/** A directory of which single calls fail, by the name of the file. */
final class FaultyDirectory extends ForwardingDirectory {
  /** The names of the files that can't be opened, though they are sound. */
  Predicate<String> openFails = name -> false;

  /** The names of the files that can't be removed. */
  Predicate<String> deleteFails = name -> false;

  /** Returns the exception with which a rename to the name fails; null when it does not fail. */
  Function<String, IOException> renameFails = name -> null;

  FaultyDirectory(MemoryDirectory directory) {
    super(directory);
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    if (openFails.test(name)) {
      throw new FileSystemException(name, null, "open: Too many open files (errno 24)");
    }
    return super.open(name);
  }

  @Override
  public void delete(String name) throws IOException {
    if (deleteFails.test(name)) {
      throw new FileSystemException(name, null, "unlink: Input/output error (errno 5)");
    }
    super.delete(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    IOException failure = renameFails.apply(to);
    if (failure != null) {
      throw failure;
    }
    super.rename(from, to);
  }
}
