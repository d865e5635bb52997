package io.erda.pmem;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class PageCacheMemoryTest extends PersistentMemoryContract {
  @TempDir Path files;

  @Override
  protected PersistentMemory newMemory(long length) throws Exception {
    return MappedMemories.create(files, MappedDirectory.Mode.PAGE_CACHE, length);
  }
}
