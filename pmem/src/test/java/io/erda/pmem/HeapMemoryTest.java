package io.erda.pmem;

final class HeapMemoryTest extends PersistentMemoryContract {
  @Override
  protected PersistentMemory newMemory(long length) throws Exception {
    return new HeapDirectory().create("m", length);
  }
}
