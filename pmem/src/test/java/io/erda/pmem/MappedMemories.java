package io.erda.pmem;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Single memories over real files. */
final class MappedMemories {
  private MappedMemories() {}

  /** The directory stays open as long as the memory. */
  static PersistentMemory create(Path files, MappedDirectory.Mode mode, long length)
      throws IOException {
    Path own = Files.createTempDirectory(files, "memory");
    MappedDirectory directory = MappedDirectory.open(own, mode);
    PersistentMemory memory = directory.create("m", length);
    ((SegmentMemory) memory).onClose(directory::close);
    return memory;
  }
}
