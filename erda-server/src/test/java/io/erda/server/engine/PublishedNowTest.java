package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.client.connections.LocalPublisher;
import io.erda.hashtable.Entry;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.protocol.Handshake;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.service.LocalLine;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests publications without a message by a client in the server's process: {@link LocalPublisher}.
 */
class PublishedNowTest {
  private static final long SEED = Long.getLong("erda.seed", 20261124L);
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

  private long nowNs = 1;

  /** Whether what objects are stored in has no pages. */
  private boolean gone;

  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private ServerCore core;

  @BeforeEach
  void open() throws IOException {
    StoreEngine engine = StoreOpening.open(new Holes(), StoreHarness.TINY, new Random(SEED));
    core =
        new ServerCore(
            engine,
            new ServiceOptions(3, 1_000_000_000L, 4096, 0, CleanerOptions.NEVER),
            () -> nowNs += 1000);
    core.listen(serverDevice, serverDevice.listen("erda"));
  }

  @AfterEach
  void close() {
    core.close();
  }

  /** A directory whose memories may lose the pages that objects would be stored in. */
  private final class Holes extends ForwardingDirectory {
    Holes() {
      super(new HeapDirectory());
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new Hole(memory);
    }
  }

  private final class Hole extends ForwardingMemory {
    Hole(PersistentMemory memory) {
      super(memory);
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      if (gone) {
        throw new InternalError("a fault occurred");
      }
      super.put(offset, source, sourceOffset, length);
    }
  }

  private RawClient connect() {
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertTrue(client.connected());
    return client;
  }

  private int headOf(RawClient client, byte[] key) {
    return Entry.headOf(core.engine().keyWord(MemorySegment.ofArray(key), 0, key.length));
  }

  private static LocalLine line(RawClient client) {
    Handshake.Welcome welcome = client.welcome();
    return new LocalLine(welcome.clientId(), welcome.connectionEpoch());
  }

  /** It used to end the server: gets failed too, and puts when there was room again. */
  @Test
  void aPlaceWithoutPagesIsDeclinedAndTheStoreGoesOn() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 4_000);
    LocalLine line = line(client);
    LocalPublisher.Built built = built(client, leased, leased.place());
    gone = true;
    assertEquals(LocalPublisher.LATER, core.localPuts().publish(line, built));
    assertEquals(0, core.engine().tables().size(), "no word names it");
    assertNull(core.readOnlyReason());
    gone = false;
    assertEquals(
        LocalPublisher.DONE, core.localPuts().publish(line, built), "the place is still its own");
    assertEquals(1, core.engine().tables().size());
    int bytes = built.bytes;
    long next = leased.place() + ObjectLayout.padded(bytes);
    client.write(leased, next, KEY, VALUE, client.regionKey(leased));
    assertEquals(Result.OK, client.publish(leased, next, bytes, 0), "messages go on");
  }

  /** A client that publishes without reading the clock still keeps its lease in use. */
  @Test
  void aLeaseThatIsUsedWithoutAMessageDoesNotEnd() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 4_000);
    LocalLine line = line(client);
    long idleNs = 1_000_000_000;
    long place = leased.place();
    for (int i = 0; i < 20; i++) {
      nowNs += idleNs / 2;
      place += publishNow(client, line, leased, place);
      client.step();
      client.step();
    }
    assertTrue(core.engine().log().openBytes() > 0, "the lease ended while it was used");
    nowNs += 2 * idleNs;
    client.step();
    client.step();
    nowNs += 2 * idleNs;
    client.step();
    client.step();
    assertEquals(0, core.engine().log().openBytes(), "it is idle now");
  }

  private LocalPublisher.Built built(RawClient client, RawClient.Leased leased, long place) {
    int bytes = ObjectLayout.bytes(KEY.length, VALUE.length);
    MemorySegment object = Arena.ofAuto().allocate(ObjectLayout.padded(bytes), 8);
    LogGeometry geometry = core.engine().log().geometry();
    int head = headOf(client, KEY);
    int offset = geometry.offset(leased.regionIndex(), place);
    new ObjectWriter(object)
        .write(
            0,
            MemorySegment.ofArray(KEY),
            0,
            KEY.length,
            MemorySegment.ofArray(VALUE),
            0,
            VALUE.length,
            false,
            ObjectChecksum.positionMix(
                head, core.engine().log().region(head, offset).generation(), offset));
    LocalPublisher.Built built = new LocalPublisher.Built();
    built.reservation = leased.reservation();
    built.head = head;
    built.offset = offset;
    built.memory = object;
    built.bytes = bytes;
    built.keyLength = KEY.length;
    built.keyWord = core.engine().keyWord(MemorySegment.ofArray(KEY), 0, KEY.length);
    return built;
  }

  private int publishNow(RawClient client, LocalLine line, RawClient.Leased leased, long place) {
    LocalPublisher.Built built = built(client, leased, place);
    int outcome = core.localPuts().publish(line, built);
    assertTrue(
        outcome == LocalPublisher.DONE || outcome == LocalPublisher.REPLACED, "outcome " + outcome);
    assertEquals(
        LocalPublisher.LATER, core.localPuts().publish(line, built), "a place is published once");
    return ObjectLayout.padded(built.bytes);
  }
}
