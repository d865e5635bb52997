package io.erda.pmem;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class SyncedDirectoryTest extends MemoryDirectoryContract {
  @TempDir Path files;

  @Override
  protected MemoryDirectory openDirectory() throws Exception {
    return MappedDirectory.open(files, MappedDirectory.Mode.SYNCED);
  }
}
