package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.EmbeddedDevice;
import io.erda.rdma.EmbeddedNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the server does while a batch waits for a device. */
class SlowDeviceTest {
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);
  private static final int STEPS = 20;

  /** Drains when it is told to. */
  private static final class HeldSyncs implements Syncs {
    private final List<PersistentMemory> group = new ArrayList<>();
    private boolean underWay;
    private int groups;
    private int awaited;

    /** The group that fails; 0: none. */
    private int failing;

    @Override
    public void add(PersistentMemory memory) {
      if (!group.contains(memory)) {
        group.add(memory);
      }
    }

    @Override
    public void begin() {
      underWay = !group.isEmpty();
      groups += underWay ? 1 : 0;
    }

    @Override
    public boolean isDone() {
      if (!underWay && groups == failing) {
        failing = 0;
        throw new UncheckedIOException(new IOException("Input/output error"));
      }
      return !underWay;
    }

    @Override
    public void await() {
      awaited += underWay ? 1 : 0;
      release();
    }

    @Override
    public void cancel() {
      group.clear();
      underWay = false;
    }

    void release() {
      group.forEach(PersistentMemory::drain);
      group.clear();
      underWay = false;
    }
  }

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private final HeldSyncs syncs = new HeldSyncs();
  private ServerCore core;
  private RawClient client;
  private RawClient.Leased leased;

  /** Another key of the same head. */
  private byte[] otherKey;

  @BeforeEach
  void open() throws IOException {
    HeapDirectory directory = new HeapDirectory(Long.MAX_VALUE, Survives.POWER_FAILURE);
    core =
        new ServerCore(
            StoreOpening.open(directory, StoreHarness.TINY, new Random(1)),
            new ServiceOptions(8, 1L << 50, 4096, 0, CleanerOptions.NEVER),
            () -> nowNs += 100);
    core.syncs(syncs);
    core.listen(serverDevice, serverDevice.listen("erda"));
    client = connect();
    leased = lease(client);
    for (int i = 0; otherKey == null; i++) {
      byte[] next = ("other " + i).getBytes(StandardCharsets.UTF_8);
      otherKey = core.engine().headOf(keyWord(next)) == leased.head() ? next : null;
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
    return by.lease(core.engine().headOf(keyWord(KEY)), 1000);
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

  /** Found by the simulation: the cleaner had copied the version before meanwhile. */
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

  /** What a client that is gone had sent before is published, and the server goes on. */
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
}
