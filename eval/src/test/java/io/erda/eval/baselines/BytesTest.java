package io.erda.eval.baselines;

import static io.erda.eval.baselines.BaselineFixture.SMALL;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.pmem.CountedDirectory;
import io.erda.pmem.HeapDirectory;
import io.erda.rdma.Device;
import io.erda.rdma.embedded.EmbeddedNetwork;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes of persistent memory by operation, as the decision's table has them. */
class BytesTest {
  private static final int KEY = 16;
  private static final int VALUE = 1024;
  private static final int N = KEY + VALUE;

  @ParameterizedTest
  @EnumSource(BaselineKind.class)
  void areWhatTheTableSays(BaselineKind kind) throws IOException {
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
    CountedDirectory files = new CountedDirectory(new HeapDirectory());
    try (Device serving = network.device();
        Device requesting = network.device();
        BaselineFixture store =
            new BaselineFixture(kind, files, SMALL, 0, serving, false, "store");
        BaselineFixture.Client client = store.client(requesting)) {
      client.put(key(0), value(VALUE)); // its size class gets a chunk
      store.settle();
      long[] before = {stored(files, requesting)};
      client.put(key(1), value(VALUE));
      assertBytes(42 + 2 * N, "create", store, files, requesting, before);
      client.put(key(1), value(VALUE));
      assertBytes(18 + N + VALUE, "update", store, files, requesting, before);
      client.put(key(1), value(VALUE - 8));
      assertBytes(18 + N + VALUE - 8, "update of another length", store, files, requesting, before);
      client.delete(key(1));
      assertBytes(34 + KEY, "delete", store, files, requesting, before);
      client.delete(key(1));
      assertBytes(0, "delete of nothing", store, files, requesting, before);
      client.get(key(0));
      assertBytes(0, "get", store, files, requesting, before);
    }
  }

  private static void assertBytes(
      long expected,
      String what,
      BaselineFixture store,
      CountedDirectory files,
      Device requesting,
      long[] before) {
    store.settle();
    long now = stored(files, requesting);
    assertEquals(expected, now - before[0], what);
    before[0] = now;
  }

  private static long stored(CountedDirectory files, Device requesting) {
    return files.statistics().bytesStored() + requesting.statistics().bytesWritten();
  }

  private static MemorySegment key(int number) {
    return BaselineFixture.bytes("key %012d".formatted(number));
  }

  private static MemorySegment value(int length) {
    return MemorySegment.ofArray(new byte[length]);
  }
}
