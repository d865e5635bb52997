package io.erda.server.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.FailedFileSystemException;
import io.erda.pmem.FileErrors;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.Survives;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Single calls that fail though the store is sound: what they say, and what goes on. */
class FailingCallsTest {
  private static final byte[] VALUE = new byte[100];

  private static final StoreGeometry STORE =
      new StoreGeometry(new LogGeometry(1, 1 << 16, 4096, 8), 16);

  private final EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private final HeapDirectory files = new HeapDirectory(1 << 20, Survives.PROCESS_CRASH);
  private final FaultyDirectory directory = new FaultyDirectory(files);
  private final List<String> told = new ArrayList<>();
  private long nowNs = 1;

  private ServerCore serve(CleanerOptions cleaning) throws IOException {
    ServerCore core =
        new ServerCore(
            StoreOpening.open(directory, STORE, new Random(1)),
            new ServiceOptions(3, 1_000_000_000L, 4096, 0, cleaning),
            CoreSurroundings.NONE.withListener(
                new ServiceListener() {
                  @Override
                  public void leftBehind(String what) {
                    told.add(what);
                  }

                  @Override
                  public void undone(String what) {
                    told.add(what);
                  }
                }),
            () -> nowNs += 1000);
    core.listen(serverDevice, serverDevice.listen("erda"));
    return core;
  }

  private int put(RawClient client, String key) {
    RawClient.Leased leased = client.lease(0, 128);
    if (leased.result() != Result.OK) {
      return leased.result();
    }
    byte[] bytes = key.getBytes(UTF_8);
    int length = client.write(leased, leased.place(), bytes, VALUE, client.regionKey(leased));
    return client.publish(leased, leased.place(), length, 0);
  }

  private static void ask(RawClient client, int head) {
    Message.putInt(client.request(), Message.CLEAN_HEAD, head);
    assertEquals(
        Result.OK, Message.result(client.ask(Message.CLEAN, Message.CLEAN_REQUEST_BYTES), 0));
  }

  private static void idle(ServerCore core) {
    for (int i = 0; i < 5_000; i++) {
      core.doWork();
    }
  }

  /** A file system that was shut down under a server let it end as if everything were kept. */
  @Test
  void aStopOnAFailedFileSystemFails() throws IOException {
    directory.renameFails =
        name ->
            name.equals(StoreFiles.STOPPED)
                ? new FailedFileSystemException(name, "rename: Input/output error (errno 5)")
                : null;
    ServerCore core = serve(CleanerOptions.NEVER);
    UncheckedIOException failure = assertThrows(UncheckedIOException.class, core::close);
    assertEquals(
        "the file system failed, and may have lost what was put last: "
            + "stopped: rename: Input/output error (errno 5)",
        FileErrors.inWords(failure));
    assertEquals(List.of(), told);
  }

  @Test
  void aStopOnAFullDiskIsAStop() throws IOException {
    directory.renameFails =
        name -> name.equals(StoreFiles.STOPPED) ? new OutOfSpaceException(name, null) : null;
    serve(CleanerOptions.NEVER).close();
    assertTrue(told.getFirst().contains("the record of this stop could not be written"));
  }

  /** An error of unlink for an old table's file made the whole store read-only. */
  @Test
  void anOldTableThatCanNotBeRemovedIsLeftBehind() throws IOException {
    directory.deleteFails = name -> name.startsWith(StoreFiles.TABLE_PREFIX);
    ServerCore core = serve(CleanerOptions.NEVER);
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    for (int i = 0; i < 100; i++) {
      assertEquals(Result.OK, put(client, "key " + i));
      idle(core);
    }
    long doublings = core.writer().growth().doublings();
    assertTrue(doublings > 1, "doublings: " + doublings);
    assertNull(core.readOnlyReason());
    assertEquals(doublings, core.figures().get("store.files.left"));
    assertTrue(told.getFirst().contains("table-1: unlink: Input/output error"), told.toString());
    core.close();
    directory.deleteFails = name -> false;
    told.clear();
    StoreEngine after = StoreOpening.open(directory, null, new Random(2));
    assertEquals(
        1, files.names().stream().filter(StoreFiles::isTable).count(), files.names().toString());
    assertEquals(100, after.tables().size());
    after.close();
  }

  /** "Can't remove a spare file" ended a server, and made a store read-only. */
  @Test
  void spareFilesThatCanNotBeRemovedAreLeftBehindAndTriedAgain() throws IOException {
    directory.deleteFails = name -> name.matches("(spare|left)-.*");
    ServerCore core = serve(ServiceOptions.DEFAULT.cleaning());
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    for (int i = 0; i < 2_000 && put(client, "key " + i % 4) == Result.OK; i++) {
      core.doWork();
    }
    client.queuePair.close();
    nowNs += 30_000_000_000L;
    idle(core);
    nowNs += 30_000_000_000L;
    idle(core);
    assertNull(core.readOnlyReason());
    assertTrue(core.figures().get("store.files.left") > 0, files.names().toString());
    directory.deleteFails = name -> false;
    nowNs += 2_000_000_000L;
    idle(core);
    assertEquals(0, core.figures().get("store.files.left"), files.names().toString());
    directory.deleteFails = name -> name.startsWith("spare-");
    core.close();
    StoreEngine after = StoreOpening.open(directory, null, new Random(2));
    assertEquals(4, after.tables().size());
    after.close();
  }

  /** Errors of rename while a region is linked made the whole store read-only, or closed it. */
  @Test
  void aRegionThatCanNotBeLinkedFailsTheRequestAndNothingElse() throws IOException {
    ServerCore core = serve(CleanerOptions.NEVER);
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    directory.renameFails = name -> new FileSystemException(name, null, "rename: busy");
    assertEquals(Result.NOT_NOW, put(client, "key"));
    directory.renameFails = name -> new OutOfSpaceException(name + ": rename: no space", null);
    assertEquals(Result.DISK_FULL, put(client, "key"));
    assertNull(core.readOnlyReason());
    assertFalse(core.isFull());
    directory.renameFails = name -> null;
    assertEquals(Result.OK, put(client, "key"));
    core.close();
    assertTrue(files.exists(StoreFiles.STOPPED));
  }

  /** Then the file system fails, and the names of the file are unknown. */
  @Test
  void aFileThatCanNeitherBeRenamedNorRemovedMakesTheStoreReadOnly() throws IOException {
    ServerCore core = serve(CleanerOptions.NEVER);
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    directory.renameFails = name -> new FileSystemException(name, null, "rename: I/O error");
    directory.deleteFails = name -> true;
    assertEquals(Result.READ_ONLY, put(client, "key"));
    assertTrue(core.readOnlyReason().contains("unlink"), core.readOnlyReason());
    core.close();
  }

  /** A file of an earlier server that can't be removed does not keep the next from making its. */
  @Test
  void aNameThatIsTakenIsPassedOver() throws IOException {
    serve(CleanerOptions.NEVER).close();
    files.create("spare-1", 1 << 16).close();
    directory.deleteFails = name -> name.equals("spare-1");
    ServerCore core = serve(CleanerOptions.NEVER);
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertEquals(Result.OK, put(client, "key"));
    assertEquals(0, core.engine().log().files().failures());
    core.close();
  }

  /** A request that waits for a cleaning that will not be done would wait for ever. */
  @Test
  void aCleaningThatIsAskedForIsGivenUpWithTheStore() throws IOException {
    ServerCore core = serve(ServiceOptions.DEFAULT.cleaning());
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    for (int i = 0; i < 1_000; i++) {
      assertEquals(Result.OK, put(client, "key " + i % 4));
    }
    files.names().stream().filter(name -> name.matches("(spare|left)-.*")).forEach(files::delete);
    ask(client, -1);
    idle(core);
    if (core.readOnlyReason() == null) {
      // It needed none of the files: a region that can't be retired does the same.
      files.names().stream().filter(LogFiles::isRegion).forEach(files::delete);
      for (int i = 0; i < 1_000 && put(client, "key " + i % 4) == Result.OK; i++) {
        ask(client, -1);
      }
      idle(core);
    }
    assertFalse(core.readOnlyReason() == null, "the store is read-only");
    assertFalse(core.cleaner().asked());
    assertEquals(0, core.figures().get("cleaner.asked"));
    core.close();
  }

  /** A sound file that can't be opened is no damage, and no missing file either. */
  @Test
  void aSoundFileThatCanNotBeOpenedIsNotDamage() throws IOException {
    ServerCore core = serve(CleanerOptions.NEVER);
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertEquals(Result.OK, put(client, "key"));
    core.close();
    // Left by an interrupted linking, which can only be known after checking it.
    files.create("region-7-77", 1 << 16).close();
    // The record of the stop is removed by the first opening that finds all that it is of.
    List<String> names = new ArrayList<>(List.of(StoreFiles.STOPPED, LogFiles.REGIONS, "table-1"));
    files.names().stream().filter(name -> !names.contains(name)).forEach(names::add);
    for (String name : names) {
      for (boolean looks : new boolean[] {true, false}) {
        directory.openFails = name::equals;
        assertTrue(files.exists(name), name);
        ErdaException error =
            assertThrows(
                ErdaException.class,
                () -> {
                  StoreEngine engine =
                      looks
                          ? StoreOpening.look(directory, new Random(1))
                          : StoreOpening.open(directory, null, new Random(1));
                  engine.close();
                },
                name);
        assertInstanceOf(ErdaException.Unusable.class, error, name);
        assertTrue(
            error.getMessage().contains(name + ": open: Too many open files"), error.getMessage());
        assertFalse(error.getMessage().contains("java."), error.getMessage());
        assertTrue(files.exists(name), name);
      }
    }
  }
}
