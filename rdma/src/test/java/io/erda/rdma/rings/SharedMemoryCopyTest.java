package io.erda.rdma.rings;

import io.erda.testing.MissingPage;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests copies into memory that others load and store. */
class SharedMemoryCopyTest {
  @TempDir Path directory;

  @Test
  void noStoreLiesInTwoPages() throws IOException {
    SharedMemoryCopy copy = new SharedMemoryCopy();
    MissingPage.storesWhatIsBefore(
        directory,
        (own, from, shared, to, length) ->
            copy.store(own, from, own.address() + from, shared, to, shared.address() + to, length));
  }
}
