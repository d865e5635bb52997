package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.pmem.MappedDirectory;
import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.KeptStop;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A start that fails before anything was stored leaves the record of the previous clean stop, so
 * that the next start can still detect damage.
 */
@Timeout(60)
final class FailedStartTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);

  @TempDir private Path directory;

  private Path data;
  private Path record;

  @BeforeEach
  void stopCleanly() {
    data = directory.resolve("data");
    record = data.resolve(StoreFiles.STOPPED);
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      erda.put(KEY, KEY);
    }
    assertTrue(Files.exists(record));
  }

  private Path file(String prefix) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      return files
          .filter(each -> each.getFileName().toString().startsWith(prefix))
          .findFirst()
          .orElseThrow();
    }
  }

  /** Neither a server nor an application can open it while a region's file is elsewhere. */
  private void failToStart() throws IOException {
    Path region = file("region-");
    Path elsewhere = directory.resolve("elsewhere");
    Files.move(region, elsewhere);
    assertThrows(
        ErdaException.Damaged.class, () -> ErdaStore.open(data, SmallStore.OPTIONS).close());
    assertThrows(
        ErdaException.Damaged.class, () -> ErdaServer.start(data, SmallStore.OPTIONS).close());
    Files.move(elsewhere, region);
  }

  @Test
  void theStoreOpensAsOneThatWasStoppedCleanly() throws IOException {
    failToStart();
    assertTrue(Files.exists(record));
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      assertEquals(List.of(), store.notes());
      assertArrayEquals(KEY, erda.get(KEY));
    }
  }

  @Test
  void theNextStartFindsWhatWasChangedSinceTheStop() throws IOException {
    failToStart();
    try (FileChannel table = FileChannel.open(file("table-"), StandardOpenOption.WRITE)) {
      table.write(ByteBuffer.wrap(new byte[] {1}), table.size() - 1);
    }
    String said =
        assertThrows(
                ErdaException.Damaged.class, () -> ErdaStore.open(data, SmallStore.OPTIONS).close())
            .getMessage();
    assertTrue(said.contains("was stopped cleanly and is not what it was then"), said);
  }

  /** A record of an earlier stop says nothing of the store as it is, and is removed for good. */
  @Test
  void aRecordThatSaysNothingDoesNotComeBack() throws IOException {
    byte[] earlier = Files.readAllBytes(record);
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient erda = store.client()) {
      erda.put(KEY, KEY);
    }
    Files.write(record, earlier);
    failToStart();
    assertFalse(Files.exists(record));
  }

  /** Changes that an opening made before it failed are no damage for the next opening. */
  @Test
  void noRecordIsWrittenOfAStoreThatWasChanged() throws IOException {
    KeptStop kept;
    try (MappedDirectory files = MappedDirectory.open(data)) {
      kept = KeptStop.of(files);
      Files.delete(record);
      try (FileChannel table = FileChannel.open(file("table-"), StandardOpenOption.WRITE)) {
        table.write(ByteBuffer.wrap(new byte[] {1}), table.size() - 1);
      }
      kept.putBack();
    }
    assertFalse(Files.exists(record));
  }
}
