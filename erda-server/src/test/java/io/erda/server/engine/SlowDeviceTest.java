package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.hashtable.Entry;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreOpening;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the server while a batch waits for a device. */
class SlowDeviceTest {
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);
  private static final int STEPS = 20;

  /** Notes what the server drains in its own thread. */
  private final class NotedDrains extends ForwardingDirectory {
    NotedDrains(HeapDirectory directory) {
      super(directory);
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new ForwardingMemory(memory) {
        @Override
        public void drain() {
          if (!syncs.draining) {
            drains++;
            onDrain.run();
          }
          super.drain();
        }

        @Override
        public void close() {
          assertFalse(syncs.isUnderWay(this), name + " is closed while it is drained");
          super.close();
        }
      };
    }
  }

  /** Drains in the server's thread. */
  private int drains;

  /** Is called before one. */
  private Runnable onDrain = () -> {};

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private final HeldSyncs syncs = new HeldSyncs();
  private HeapDirectory directory;
  private ServerCore core;
  private RawClient client;
  private RawClient.Leased leased;

  /** Another key of the same head. */
  private byte[] otherKey;

  @BeforeEach
  void open() throws IOException {
    open(TableGrowthOptions.DEFAULT);
  }

  private void open(TableGrowthOptions growth) throws IOException {
    directory = new HeapDirectory(Long.MAX_VALUE, Survives.POWER_FAILURE);
    core =
        new ServerCore(
            StoreOpening.open(new NotedDrains(directory), StoreHarness.TINY, new Random(1)),
            new ServiceOptions(8, 1L << 50, 4096, 0, CleanerOptions.NEVER).withGrowth(growth),
            CoreSurroundings.NONE.withSyncs(syncs),
            () -> nowNs += 100);
    core.listen(serverDevice, serverDevice.listen("erda"));
    client = connect();
    leased = lease(client);
    for (int i = 0; otherKey == null; i++) {
      byte[] next = ("other " + i).getBytes(StandardCharsets.UTF_8);
      otherKey = Entry.headOf(keyWord(next)) == leased.head() ? next : null;
    }
  }

  @AfterEach
  void close() {
    core.close();
  }

  private RawClient connect() {
    RawClient connecting = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertTrue(connecting.connected());
    return connecting;
  }

  private RawClient.Leased lease(RawClient by) {
    return by.lease(Entry.headOf(keyWord(KEY)), 1000);
  }

  private long keyWord(byte[] key) {
    return core.engine().keyWord(MemorySegment.ofArray(key), 0, key.length);
  }

  private long entry(byte[] key) {
    return core.engine().find(keyWord(key), MemorySegment.ofArray(key), 0, key.length);
  }

  private long word(byte[] key) {
    return core.engine().tables().versionWord(entry(key));
  }

  private int offset(RawClient.Leased in, long place) {
    return client.geometry().offset(in.regionIndex(), place);
  }

  /** Sends a put of the key at a place of the extent; returns the place behind it. */
  private static long putLater(RawClient by, RawClient.Leased in, long place, byte[] key) {
    int bytes = by.write(in, place, key, VALUE, in.key());
    by.publishLater(in, place, bytes, 0);
    return place + 64;
  }

  private void put(byte[] key, long place) {
    putLater(client, leased, place, key);
    while (!client.isAnswered()) {
      client.step();
      syncs.release();
    }
    assertEquals(Result.OK, Message.result(client.response(), 0));
  }

  private void steps() {
    for (int i = 0; i < STEPS; i++) {
      client.step();
    }
  }

  @Test
  void othersAreServedMeanwhile() {
    putLater(client, leased, leased.place(), KEY);
    steps();
    assertFalse(client.isAnswered());
    assertEquals(Tables.NONE, entry(KEY), "its object is not durable");

    RawClient other = connect();
    assertEquals(Result.OK, lease(other).result());
    syncs.release();
    steps();
    assertFalse(client.isAnswered());
    assertTrue(VersionWord.pending(word(KEY)), "its word is not durable");

    assertEquals(Result.OK, lease(connect()).result());
    assertEquals(0, syncs.awaited, "nobody waited in the server's thread");
    syncs.release();
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertFalse(VersionWord.pending(word(KEY)));
    assertEquals(2, syncs.groups);
  }

  @Test
  void anExtentEndsBehindWhatIsPublishedInIt() {
    long next = putLater(client, leased, leased.place(), KEY);
    steps();
    putLater(client, leased, next, otherKey);
    Message.putLong(client.request(), Message.END_RESERVATION, leased.reservation());
    MemorySegment first = client.ask(Message.END, Message.END_REQUEST_BYTES);
    assertEquals(Message.PUBLISH, Message.type(first, 0));
    assertEquals(Result.OK, Message.result(first, 0));
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(Message.END, Message.type(client.response(), 0));
    assertTrue(syncs.awaited > 0);
  }

  /** Found by the simulation: in the meantime the cleaner had copied the previous version. */
  @Test
  void theVersionBeforeMayBeCopiedWhileAWordIsPending() {
    put(KEY, leased.place());
    put(otherKey, leased.place() + 64);
    putLater(client, leased, leased.place() + 128, KEY);
    steps();
    syncs.release();
    steps();
    long word = word(KEY);
    assertTrue(VersionWord.pending(word));
    long copied = VersionWord.withOlder(word, offset(leased, leased.place() + 64));
    assertTrue(core.engine().tables().storeWord(entry(KEY), keyWord(KEY), word, copied));
    syncs.release();
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(offset(leased, leased.place() + 128), VersionWord.committed(word(KEY)));
    assertFalse(VersionWord.pending(word(KEY)));
  }

  /** As many as were answered together are published together, if they come soon. */
  @Test
  void aBatchWaitsForThoseWhoWereAnswered() {
    RawClient other = connect();
    RawClient.Leased others = lease(other);
    long next = putLater(client, leased, leased.place(), KEY);
    long othersNext = putLater(other, others, others.place(), otherKey);
    steps();
    nowNs += 1_000_000;
    finish(client, other);
    assertEquals(2, syncs.groups, "one batch");

    next = putLater(client, leased, next, KEY);
    core.doWork();
    assertEquals(2, syncs.groups, "the other one may come, too");
    assertEquals(0, core.sleepNsMax(), "who waits for so short a time does not sleep");
    putLater(other, others, othersNext, otherKey);
    steps();
    assertEquals(3, syncs.groups);
    nowNs += 1_000_000;
    finish(client, other);
    assertEquals(4, syncs.groups);

    putLater(client, leased, next, KEY);
    core.doWork();
    assertEquals(4, syncs.groups);
    nowNs += 1_000_000;
    core.doWork();
    assertEquals(5, syncs.groups, "the other one did not come");
  }

  /** Both groups of a batch are drained, and each client is answered. */
  private void finish(RawClient... clients) {
    for (int group = 0; group < 2; group++) {
      syncs.release();
      steps();
    }
    for (RawClient each : clients) {
      assertEquals(Result.OK, Message.result(each.response(), 0));
    }
  }

  /** Found by reading: what was acknowledged may be durable with a later drain alone. */
  @Test
  void noExtentEndsBehindADrainThatFailed() {
    RawClient other = connect();
    RawClient.Leased others = lease(other);
    putLater(client, leased, leased.place(), KEY);
    putLater(other, others, others.place(), KEY);
    steps();
    syncs.failing = 3;
    finish(client);
    assertEquals(3, syncs.groups, "the second put of the key waits by itself");
    long open = core.engine().log().usage().openExtents();

    Message.putLong(client.request(), Message.END_RESERVATION, leased.reservation());
    client.ask(Message.END, Message.END_REQUEST_BYTES);
    assertEquals(Result.FAILED, Message.result(other.response(), 0));
    assertEquals(open, core.engine().log().usage().openExtents());
  }

  /** Found by reading: a batch was begun in a store that had failed. */
  @Test
  void nothingIsPublishedBehindADrainThatFailed() {
    RawClient other = connect();
    RawClient.Leased others = lease(other);
    putLater(client, leased, leased.place(), KEY);
    steps();
    putLater(other, others, others.place(), otherKey);
    steps();
    syncs.failing = 1;
    syncs.release();
    assertEquals(Result.FAILED, Message.result(client.response(), 0));
    for (int group = 0; group < 2; group++) {
      syncs.release();
      steps();
    }
    assertEquals(Result.FAILED, Message.result(other.response(), 0));
    assertEquals(Tables.NONE, entry(KEY));
    assertEquals(Tables.NONE, entry(otherKey));
  }

  /**
   * Found by simulation: a record of the stop proved tables that a drain had failed to make
   * durable, and the opening behind a power failure refused the store.
   */
  @Test
  void aStoreWhoseDrainFailedIsNotStoppedInOrder() throws IOException {
    putLater(client, leased, leased.place(), KEY);
    steps();
    syncs.failing = 1;
    syncs.release();
    assertEquals(Result.FAILED, Message.result(client.response(), 0));
    core.close();
    assertFalse(directory.names().contains("stopped"));
  }

  /** An orderly stop leaves the record; otherwise the test above would prove nothing. */
  @Test
  void aStoreWithoutFailuresIsStoppedInOrder() throws IOException {
    put(KEY, leased.place());
    core.close();
    assertTrue(directory.names().contains("stopped"));
  }

  /** Requests that a client had sent before it left are published, and the server goes on. */
  @Test
  void aConnectionIsClosedBehindWhatItHadSent() {
    putLater(client, leased, leased.place(), KEY);
    steps();
    syncs.release();
    steps();
    client.queuePair.close();
    RawClient other = connect();
    for (int i = 0; i < STEPS; i++) {
      other.step();
    }
    assertTrue(entry(KEY) != Tables.NONE && !VersionWord.pending(word(KEY)));
    assertEquals(Result.OK, lease(other).result());
  }

  /**
   * Found by reading: the batch that an ERASE waited for said that all was over that had been
   * claimed, the ERASE too.
   */
  @Test
  void anEraseIsNotSettledBeforeItIsDone() {
    put(KEY, leased.place());
    long before = client.queuePair.claims().finished();
    assertEquals(client.queuePair.claims().sent(), before);
    putLater(client, leased, leased.place() + 64, otherKey);
    steps();
    List<Long> settled = new ArrayList<>();
    onDrain = () -> settled.add(client.queuePair.claims().finished());
    client.eraseLater(KEY);
    assertEquals(Message.PUBLISH, Message.type(client.response(), 0));
    assertEquals(Message.ERASE, Message.type(client.response(), 0));
    assertFalse(settled.isEmpty(), "an ERASE drains");
    assertEquals(before, settled.getLast(), "while the ERASE is under way");
    assertEquals(client.queuePair.claims().sent(), client.queuePair.claims().finished());
  }

  /** Keys of the same head that have no entry. */
  private List<byte[]> newKeys(int count) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; keys.size() < count; i++) {
      byte[] next = ("new " + i).getBytes(StandardCharsets.UTF_8);
      if (Entry.headOf(keyWord(next)) == leased.head()) {
        keys.add(next);
      }
    }
    return keys;
  }

  /** Each of them waited for its key word in the server's thread. */
  @Test
  void newKeysOfABatchAreMadeDurableTogether() {
    List<byte[]> keys = newKeys(8);
    long place = leased.place();
    for (byte[] key : keys) {
      place = putLater(client, leased, place, key);
    }
    drains = 0;
    steps();
    for (byte[] key : keys) {
      assertEquals(Tables.NONE, entry(key));
    }
    syncs.release();
    steps();
    for (byte[] key : keys) {
      assertTrue(VersionWord.pending(word(key)));
    }
    syncs.release();
    for (byte[] ignored : keys) {
      assertEquals(Result.OK, Message.result(client.response(), 0));
    }
    assertEquals(0, drains, "in the server's thread");
    assertEquals(2, syncs.groups);
  }

  /** The second one meets the entry of the first. */
  @Test
  void twoPutsOfANewKeyMakeOneEntry() {
    long next = putLater(client, leased, leased.place(), KEY);
    putLater(client, leased, next, KEY);
    for (int group = 0; group < 3; group++) {
      steps();
      syncs.release();
    }
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(1, core.engine().tables().size());
    assertEquals(offset(leased, next), VersionWord.committed(word(KEY)));
    assertEquals(0, leftKeyWords());
  }

  /** Key words beside no version. */
  private int leftKeyWords() {
    HashTable table = core.engine().tables().current().table();
    int left = 0;
    for (long slot = 0; slot < table.slots(); slot++) {
      left += table.versionWord(slot) == 0 && table.keyWord(slot) != 0 ? 1 : 0;
    }
    return left;
  }

  @Test
  void theKeyWordOfAPutThatIsNotDoneIsTakenBack() {
    RawClient other = connect();
    RawClient.Leased others = lease(other);
    putLater(other, others, others.place(), KEY);
    core.doWork();
    assertEquals(1, leftKeyWords());
    other.queuePair.claims().withdraw();
    steps();
    syncs.release();
    steps();
    assertEquals(Tables.NONE, entry(KEY));
    assertEquals(0, leftKeyWords());
  }

  /**
   * Entries that were staged in the old table can't be used, and that table stays mapped while it
   * is drained.
   */
  @Test
  void theTableIsDoubledWhileKeyWordsAreMadeDurable() throws IOException {
    core.close();
    open(new TableGrowthOptions(StoreGeometry.BUCKETS_MAX, 64, 0));
    List<byte[]> keys = newKeys(3);
    put(keys.get(0), leased.place());
    put(keys.get(1), leased.place() + 64);
    putLater(client, leased, leased.place() + 128, keys.get(2));
    core.doWork();
    assertEquals(1, leftKeyWords());
    assertTrue(core.writer().growth().makeRoom(1));
    steps();
    assertEquals(1, core.writer().growth().doublings());
    syncs.release();
    steps();
    syncs.release();
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertFalse(VersionWord.pending(word(keys.get(2))));
    assertEquals(3, core.engine().tables().size());
    assertEquals(0, leftKeyWords());
  }

  /** An insertion that has no staged entry takes the first free one, and clears what is left. */
  @Test
  void whatIsStagedMayBeTakenByAnotherInsertion() {
    putLater(client, leased, leased.place(), KEY);
    core.doWork();
    Tables tables = core.engine().tables();
    long taken = tables.insert(keyWord(KEY), VersionWord.first(1, false));
    assertTrue(taken != Tables.NONE);
    assertTrue(tables.remove(taken, keyWord(KEY), VersionWord.first(1, false)));
    for (int group = 0; group < 2; group++) {
      syncs.release();
      steps();
    }
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(1, tables.size());
    assertEquals(0, leftKeyWords());
  }

  /** The sixty-fifth put that was collected waited for the batch before, and all others with it. */
  @Test
  void moreThanABatchIsCollectedMeanwhile() {
    put(KEY, leased.place());
    putLater(client, leased, leased.place() + 64, otherKey);
    steps();
    syncs.awaited = 0;
    List<RawClient> clients = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      RawClient by = connect();
      RawClient.Leased its = lease(by);
      for (int put = 0; put < 12; put++) {
        long place = its.place() + 64 * put;
        int bytes = by.write(its, place, KEY, VALUE, its.key());
        by.publishLater(its, place, bytes, Message.FLAG_IF_ABSENT);
      }
      clients.add(by);
    }
    steps();
    assertFalse(client.isAnswered());
    assertEquals(0, syncs.awaited, "nobody waited in the server's thread");
    for (int group = 0; group < 3; group++) {
      syncs.release();
      steps();
    }
    assertEquals(Result.OK, Message.result(client.response(), 0));
    for (RawClient each : clients) {
      for (int put = 0; put < 12; put++) {
        assertEquals(Result.CONFLICT, Message.result(each.response(), 0));
      }
    }
    assertEquals(0, syncs.awaited);
  }

  @Test
  void whoHasNothingInABatchDoesNotWaitForIt() {
    put(KEY, leased.place());
    RawClient ending = connect();
    RawClient.Leased ends = lease(ending);
    RawClient leaving = connect();
    assertEquals(Result.OK, lease(leaving).result());
    long open = core.engine().log().usage().openExtents();
    putLater(client, leased, leased.place() + 64, otherKey);
    steps();
    syncs.awaited = 0;

    Message.putLong(ending.request(), Message.END_RESERVATION, ends.reservation());
    MemorySegment ended = ending.ask(Message.END, Message.END_REQUEST_BYTES);
    assertEquals(Result.OK, Message.result(ended, 0));
    leaving.queuePair.close();
    steps();
    assertEquals(open - 2, core.engine().log().usage().openExtents());
    ending.eraseLater(KEY);
    assertEquals(Result.OK, Message.result(ending.response(), 0));
    assertEquals(Tables.NONE, entry(KEY));
    assertFalse(client.isAnswered());
    assertEquals(0, syncs.awaited);
  }

  @Test
  void anEraseWaitsForAPutOfItsKey() {
    RawClient other = connect();
    put(KEY, leased.place());
    putLater(client, leased, leased.place() + 64, KEY);
    steps();
    syncs.release();
    steps();
    assertTrue(VersionWord.pending(word(KEY)));
    other.eraseLater(KEY);
    assertEquals(Result.OK, Message.result(other.response(), 0));
    assertEquals(Tables.NONE, entry(KEY));
    assertEquals(Result.OK, Message.result(client.response(), 0));
  }
}
