package io.erda.server.engine.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.hashtable.Entry;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.Backing;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Work;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.rdma.testing.ForwardingDevice;
import io.erda.server.engine.ListenerOfAnotherUser;
import io.erda.server.engine.RawClient;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the server's answers to peers that respect the protocol, and to peers that do not. */
class ServerCoreTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120L);
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private ServerCore core;

  @BeforeEach
  void open() throws IOException {
    StoreEngine engine =
        StoreOpening.open(new HeapDirectory(), StoreHarness.TINY, new Random(SEED));
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

  private RawClient connect() {
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertTrue(client.connected());
    return client;
  }

  private RawClient refused(MemorySegment hello) {
    RawClient client = new RawClient(core, clientDevice, "erda", hello);
    assertFalse(client.connected());
    return client;
  }

  private int headOf(RawClient client, byte[] key) {
    return Entry.headOf(core.engine().keyWord(MemorySegment.ofArray(key), 0, key.length));
  }

  /** The server ends the client's older leases and keeps its newest one, and the client goes on. */
  @Test
  void aClientThatOnlyLeasesHoldsNoMoreThanItsShare() {
    RawClient client = connect();
    int head = headOf(client, KEY);
    int bytes = core.engine().log().geometry().objectBytesMax() / 2;
    long most = core.engine().log().openBytesMax() + 2L * bytes;
    RawClient.Leased leased = client.lease(head, bytes);
    int granted = 0;
    while (leased.result() == Result.OK) {
      granted++;
      long open = core.engine().log().openBytes();
      assertTrue(open <= most, open + " bytes are open after " + granted + " leases");
      RawClient.Leased next = client.lease(head, bytes);
      if (next.result() == Result.OK) {
        leased = next;
      } else {
        break;
      }
    }
    assertTrue(granted > 10, "leases granted: " + granted);
    int put = client.write(leased, leased.place(), KEY, VALUE, client.regionKey(leased));
    assertEquals(Result.OK, client.publish(leased, leased.place(), put, 0), "the newest is kept");
  }

  @Test
  void whatComesWhileAnswersAreNotedIsCounted() {
    RawClient client = connect();
    RawClient another = connect();
    client.send(Message.STATS, Message.STATS_REQUEST_BYTES);
    core.doWork();
    another.send(Message.STATS, Message.STATS_REQUEST_BYTES);
    assertEquals(1, core.noteAnswered());
    assertEquals(0, core.noteAnswered());
  }

  @Test
  void whatNobodyUsesEndsSoonWhileTooMuchIsOpen() {
    int bytes = core.engine().log().geometry().objectBytesMax();
    RawClient client = connect();
    RawClient another = connect();
    while (core.engine().log().openBytes() <= core.engine().log().openBytesMax()) {
      assertEquals(Result.OK, client.lease(0, bytes).result());
      assertEquals(Result.OK, another.lease(0, bytes).result());
    }
    nowNs += 200_000_000L;
    client.step();
    client.step();
    assertEquals(0, core.engine().log().openBytes());
  }

  @Test
  void aPutIsOneLeaseAndOnePublication() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 18);
    assertEquals(Result.OK, leased.result());
    int bytes = client.write(leased, leased.place(), KEY, VALUE, client.regionKey(leased));
    assertEquals(Result.OK, client.publish(leased, leased.place(), bytes, 0));
    assertEquals(1, core.engine().tables().size());
  }

  @Test
  void aPlaceIsPublishedOnce() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 64);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, client.regionKey(leased));
    assertEquals(Result.OK, client.publish(leased, leased.place(), bytes, 0));
    assertEquals(Result.NO_RESERVATION, client.publish(leased, leased.place(), bytes, 0));
  }

  /** The bytes after a short message belong to another message. */
  @Test
  void aPublicationOfAnotherLengthIsRefused() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 64);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, client.regionKey(leased));
    Message.putLong(client.request(), Message.PUBLISH_RESERVATION, leased.reservation());
    Message.putInt(
        client.request(),
        Message.PUBLISH_OFFSET,
        client.geometry().offset(leased.regionIndex(), leased.place()));
    Message.putInt(client.request(), Message.PUBLISH_OBJECT_BYTES, bytes);
    Message.putInt(client.request(), Message.PUBLISH_HEAD, leased.head());
    Message.putInt(client.request(), Message.PUBLISH_FLAGS, 0);
    MemorySegment response = client.ask(Message.PUBLISH, Message.PUBLISH_REQUEST_BYTES - 4);
    assertEquals(Result.BAD_REQUEST, Message.result(response, 0));
    assertEquals(0, core.engine().tables().size());
  }

  /** A condition that is none, or for which something is missing or too much. */
  @Test
  void aPublicationWithAnotherConditionIsRefused() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 64);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, client.regionKey(leased));
    for (int flags : new int[] {3, 4, 5, 6, 7, 8, 16, -1, Integer.MIN_VALUE}) {
      assertEquals(
          Result.BAD_REQUEST, client.publish(leased, leased.place(), bytes, flags), "" + flags);
    }
    for (int flags : new int[] {0, 1, 2, 3, 8}) {
      client.putPublish(leased, leased.place(), bytes, flags);
      MemorySegment response = client.ask(Message.PUBLISH, Message.PUBLISH_IF_EQUAL_BYTES);
      assertEquals(Result.BAD_REQUEST, Message.result(response, 0), "" + flags);
    }
    assertEquals(0, core.engine().tables().size());
    assertEquals(Result.OK, client.publish(leased, leased.place(), bytes, Message.FLAG_IF_ABSENT));
  }

  @Test
  void aMessageWhoseLengthFieldDoesNotAgreeEndsTheConnection() {
    RawClient client = connect();
    Message.putHeader(
        client.request(),
        0,
        Message.STATS,
        0,
        Message.STATS_REQUEST_BYTES + 8,
        1,
        client.welcome().clientId(),
        client.welcome().connectionEpoch());
    client.sendRaw(Message.STATS_REQUEST_BYTES);
    assertNull(client.response());
    assertTrue(client.disconnected);
  }

  @Test
  void nothingIsPublishedThatIsNotWholeAndLeased() {
    RawClient client = connect();
    int head = headOf(client, KEY);
    RawClient.Leased leased = client.lease(head, 64);
    long regionKey = client.regionKey(leased);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, regionKey);
    assertEquals(
        Result.INVALID_OBJECT,
        client.publish(leased, leased.place(), bytes - 1, 0),
        "other length");
    leased = client.lease(head, 64);
    bytes = client.write(leased, leased.place(), KEY, VALUE, regionKey);
    assertEquals(
        Result.INVALID_OBJECT,
        client.publish(leased, leased.place(), bytes, Message.FLAG_DELETE),
        "a value as a tombstone");
    leased = client.lease(head, 64);
    assertEquals(
        Result.INVALID_OBJECT, client.publish(leased, leased.place(), bytes, 0), "nothing written");
    assertEquals(
        Result.NO_RESERVATION,
        client.publish(leased, leased.place() + 4096, bytes, 0),
        "behind the extent");
    assertEquals(Result.BAD_REQUEST, client.publish(leased, 0, 5, 0), "too short");
    RawClient.Leased otherHead = client.lease(1 - head, 64);
    bytes = client.write(otherHead, otherHead.place(), KEY, VALUE, client.regionKey(otherHead));
    assertEquals(
        Result.INVALID_OBJECT,
        client.publish(otherHead, otherHead.place(), bytes, 0),
        "a key of another head");
    assertEquals(0, core.engine().tables().size());
    assertEquals(0, core.writer().puts().puts());
  }

  /** The server remembers the extent of a client's last put. */
  @Test
  void anExtentThatHasEndedTakesNothingMore() {
    RawClient client = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 256);
    long key = client.regionKey(leased);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, key);
    assertEquals(Result.OK, client.publish(leased, leased.place(), bytes, 0));
    long next = leased.place() + ObjectLayout.padded(bytes);
    assertEquals(bytes, client.write(leased, next, KEY, VALUE, key));
    nowNs += 2_000_000_000L;
    client.step();
    client.step();
    assertEquals(Result.NO_RESERVATION, client.publish(leased, next, bytes, 0));
    assertEquals(1, core.writer().puts().puts());
  }

  @Test
  void aReservationBelongsToOneClientAndEnds() {
    RawClient first = connect();
    RawClient second = connect();
    int head = headOf(first, KEY);
    RawClient.Leased leased = first.lease(head, 64);
    int bytes = first.write(leased, leased.place(), KEY, VALUE, first.regionKey(leased));
    assertEquals(
        Result.NO_RESERVATION,
        second.publish(leased, leased.place(), bytes, 0),
        "another client's");
    nowNs += 2_000_000_000L;
    // The first step takes the completion of the answer.
    first.step();
    first.step();
    assertEquals(
        Result.NO_RESERVATION,
        first.publish(leased, leased.place(), bytes, 0),
        "idle for too long");
    assertEquals(0, core.engine().log().usage().openExtents());
    RawClient.Leased again = first.lease(head, 64);
    assertTrue(again.place() > leased.place());
    first.queuePair.close();
    for (int turn = 0; turn < 100; turn++) {
      second.step();
    }
    assertEquals(0, core.engine().log().usage().openExtents(), "a client that left holds nothing");
  }

  /** A step with work puts housekeeping off; not for good. */
  @Test
  void aServerThatIsNeverIdleEndsIdleReservationsToo() {
    RawClient first = connect();
    RawClient second = connect();
    first.lease(headOf(first, KEY), 64);
    nowNs += 2_000_000_000L;
    Message.putLong(second.request(), Message.STATS_FROM, 0);
    second.ask(Message.STATS, Message.STATS_REQUEST_BYTES);
    assertEquals(1, core.engine().log().usage().openExtents(), "who asked is answered first");
    for (int i = 0; i < 4; i++) {
      second.ask(Message.STATS, Message.STATS_REQUEST_BYTES);
    }
    assertEquals(0, core.engine().log().usage().openExtents());
  }

  @Test
  void fullIsAnAnswerAndDeletesStillWork() {
    RawClient client = connect();
    int head = headOf(client, KEY);
    RawClient.Leased leased = client.lease(head, 64);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, client.regionKey(leased));
    assertEquals(Result.OK, client.publish(leased, leased.place(), bytes, 0));
    while (leased.result() == Result.OK) {
      leased = client.lease(head, 4000);
    }
    assertEquals(Result.LOG_FULL, leased.result());
    Message.putInt(client.request(), Message.ERASE_KEY_LENGTH, KEY.length);
    MemorySegment.copy(
        KEY, 0, client.request(), ValueLayout.JAVA_BYTE, Message.ERASE_KEY, KEY.length);
    MemorySegment response = client.ask(Message.ERASE, Message.ERASE_KEY + KEY.length);
    assertEquals(Result.OK, Message.result(response, 0));
    assertEquals(1, Message.getInt(response, Message.ERASED_EXISTED));
    assertEquals(0, core.engine().tables().size());
  }

  @Test
  void tooLargeIsAnAnswer() {
    RawClient client = connect();
    assertEquals(Result.TOO_LARGE, client.lease(0, 4096).result());
    assertEquals(Result.BAD_REQUEST, client.lease(9, 64).result());
    assertEquals(Result.BAD_REQUEST, client.lease(0, -1).result());
  }

  @Test
  void whoDoesNotFitIsToldBothValues() {
    assertTrue(
        refused(Handshake.encode(new Handshake.Hello(9, Protocol.LAYOUT_VERSION, null, 1, null)))
            .refusal()
            .text()
            .contains(
                "server speaks protocol version %d, layout version %d; client speaks 9, %d"
                    .formatted(
                        Protocol.VERSION, Protocol.LAYOUT_VERSION, Protocol.LAYOUT_VERSION)));
    assertTrue(
        refused(
                Handshake.encode(
                    new Handshake.Hello(
                        Protocol.VERSION, Protocol.LAYOUT_VERSION, Promise.POWER, 1, null)))
            .refusal()
            .text()
            .contains("store promises PROCESS, client requires POWER"));
    assertEquals(
        Handshake.Refusal.STORE,
        refused(
                Handshake.encode(
                    new Handshake.Hello(
                        Protocol.VERSION, Protocol.LAYOUT_VERSION, null, 1, new UUID(1, 1))))
            .refusal()
            .reason());
    assertEquals(
        Handshake.Refusal.NOT_ERDA,
        refused(MemorySegment.ofArray("GET / HTTP/1.1".getBytes(StandardCharsets.UTF_8)))
            .refusal()
            .reason());
    connect();
    connect();
    connect();
    assertEquals(Handshake.Refusal.CONNECTIONS, refused(RawClient.hello()).refusal().reason());
  }

  /** Its old connection counts until the server looks at it, which is before anybody is refused. */
  @Test
  void whoClosesAndConnectsAgainIsNotRefusedForItsOwnOldConnection() {
    connect();
    connect();
    RawClient client = connect();
    for (int i = 0; i < 50; i++) {
      client.queuePair.close();
      nowNs += 1_000_000; // the next step accepts new clients before it notices lost ones
      client = new RawClient(core, clientDevice, "erda", RawClient.hello());
      assertTrue(client.connected(), "reconnect " + i);
    }
    assertEquals(Handshake.Refusal.CONNECTIONS, refused(RawClient.hello()).refusal().reason());
  }

  /** Every table in its grace period has a registration, as every region of the log has. */
  @Test
  void theTableDoublesBesideAsManyRegionsAsALogCanHave() {
    RawClient client = connect();
    for (int i = 0; i < 4; i++) {
      assertEquals(Result.OK, put(client, "key" + i));
    }
    EmbeddedDevice others = network.device();
    for (int i = core.engine().log().regions().size(); i < 8190; i++) {
      others.register(MemorySegment.ofArray(new long[1]), Backing.none(8), Access.REMOTE_READ);
    }
    for (int i = 0; i < 100; i++) {
      assertEquals(Result.OK, put(client, "key" + i));
    }
    assertTrue(core.writer().growth().doublings() >= 3, "" + core.writer().growth().doublings());
    assertNull(core.readOnlyReason());
  }

  private int put(RawClient client, String key) {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    RawClient.Leased leased = client.lease(headOf(client, bytes), 64);
    assertEquals(Result.OK, leased.result());
    int put = client.write(leased, leased.place(), bytes, VALUE, client.regionKey(leased));
    return client.publish(leased, leased.place(), put, 0);
  }

  /**
   * After an opening the table is counted in steps: a request for figures does not wait for that.
   */
  @Test
  void statsDoNotCountALargeTable() throws IOException {
    core.close();
    HeapDirectory disk = new HeapDirectory();
    StoreGeometry large = new StoreGeometry(StoreHarness.TINY.geometry(), 1 << 20);
    StoreOpening.open(disk, large, new Random(SEED)).close();
    StoreEngine engine = StoreOpening.open(disk.anotherView(), large, new Random(SEED));
    core =
        new ServerCore(
            engine,
            new ServiceOptions(3, 1_000_000_000L, 4096, 0, CleanerOptions.NEVER),
            () -> nowNs += 1000);
    core.listen(serverDevice, serverDevice.listen("large"));
    RawClient client = new RawClient(core, clientDevice, "large", RawClient.hello());
    Message.putInt(client.request(), Message.STATS_FROM, 0);
    MemorySegment figures = client.ask(Message.STATS, Message.STATS_REQUEST_BYTES);
    assertEquals(Result.OK, Message.result(figures, 0));
    assertFalse(engine.tables().current().table().sizeKnown());
  }

  /** Another user gets one of three connections; the server's own user may have all. */
  @Test
  void anotherUserHasHalfOfTheConnectionsAtMost() throws IOException {
    Listener real = serverDevice.listen("others");
    core.listen(serverDevice, new ListenerOfAnotherUser(real, "guest"));
    RawClient first = new RawClient(core, clientDevice, "others", RawClient.hello());
    assertTrue(first.connected());
    RawClient second = new RawClient(core, clientDevice, "others", RawClient.hello());
    assertFalse(second.connected());
    assertEquals(Handshake.Refusal.CONNECTIONS, second.refusal().reason());
    assertTrue(second.refusal().text().startsWith("user guest has all 1 connections"));
    connect();
    first.queuePair.close();
    nowNs += 1_000_000;
    assertTrue(new RawClient(core, clientDevice, "others", RawClient.hello()).connected());
    connect();
  }

  /** Hardware locks what it registers, and a limit holds for that: the others are served on. */
  @Test
  void whoseMessagesHaveNoMemoryIsRefused() throws IOException {
    Device full =
        new ForwardingDevice(serverDevice) {
          @Override
          public MemoryRegion register(MemorySegment memory, Backing backing, int access) {
            if (access == Access.LOCAL) {
              throw new IllegalStateException("can't register memory");
            }
            return super.register(memory, backing, access);
          }
        };
    core.listen(full, serverDevice.listen("full"));

    RawClient client = new RawClient(core, clientDevice, "full", RawClient.hello());

    assertFalse(client.connected());
    assertEquals(Handshake.Refusal.CONNECTIONS, client.refusal().reason());
    connect();
  }

  @Test
  void anotherClientsNameEndsTheConnection() {
    RawClient client = connect();
    Message.putHeader(client.request(), 0, Message.MAP, 0, Message.MAP_REQUEST_BYTES, 1, 99, 1);
    client.sendRaw(Message.MAP_REQUEST_BYTES);
    assertNull(client.response());
    assertTrue(client.disconnected);
  }

  /** A WRITE with immediate data takes a receive and is no request: it could not be answered. */
  @Test
  void aWriteWithImmediateDataEndsTheConnection() {
    RawClient client = connect();
    RawClient bystander = connect();
    RawClient.Leased leased = client.lease(headOf(client, KEY), 64);
    assertTrue(
        client.queuePair.post(
            Work.writeImm()
                .id(1)
                .local(client.memory, 0, 8)
                .remote(client.regionKey(leased), leased.place())
                .imm(0xcafe_babe)));
    assertNull(client.response());
    assertTrue(client.disconnected);
    assertEquals(1, figure(bystander, "connections.garbage"), "and the server says why");
  }

  private static long figure(RawClient client, String name) {
    Message.putLong(client.request(), Message.STATS_FROM, 0);
    MemorySegment response = client.ask(Message.STATS, Message.STATS_REQUEST_BYTES);
    long at = Message.STATS_FIGURES_AT;
    for (long i = Message.getLong(response, Message.STATS_COUNT); i > 0; i--) {
      int length = response.get(ValueLayout.JAVA_BYTE, at + 8);
      byte[] bytes = response.asSlice(at + 9, length).toArray(ValueLayout.JAVA_BYTE);
      if (new String(bytes, StandardCharsets.UTF_8).equals(name)) {
        return Message.getLong(response, at);
      }
      at += 9 + length;
    }
    throw new AssertionError("no figure " + name);
  }

  @Test
  void garbageHurtsNobodyElse() {
    Random random = new Random(SEED);
    RawClient bystander = connect();
    for (int run = 0; run < 300; run++) {
      RawClient hostile = connect();
      for (int message = 0; message < 20 && !hostile.disconnected; message++) {
        byte[] bytes = new byte[1 + random.nextInt(200)];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, hostile.request(), ValueLayout.JAVA_BYTE, 0, bytes.length);
        if (random.nextInt(4) > 0) {
          Message.putHeader(
              hostile.request(),
              0,
              random.nextInt(9),
              0,
              bytes.length,
              random.nextLong(),
              hostile.welcome().clientId(),
              hostile.welcome().connectionEpoch());
          Message.putInt(hostile.request(), Message.BODY, random.nextInt(4) - 1);
        }
        try {
          hostile.sendRaw(bytes.length);
          hostile.step();
          hostile.response();
        } catch (RuntimeException e) {
          throw new AssertionError("run " + run + " of -Derda.seed=" + SEED, e);
        }
      }
      hostile.queuePair.close();
      for (int turn = 0; turn < 4; turn++) {
        bystander.step();
      }
    }
    RawClient.Leased leased = bystander.lease(headOf(bystander, KEY), 64);
    int bytes = bystander.write(leased, leased.place(), KEY, VALUE, bystander.regionKey(leased));
    assertEquals(Result.OK, bystander.publish(leased, leased.place(), bytes, 0));
  }

  @Test
  void statsAreNamedFigures() {
    RawClient client = connect();
    Message.putLong(client.request(), Message.STATS_FROM, 0);
    MemorySegment response = client.ask(Message.STATS, Message.STATS_REQUEST_BYTES);
    assertEquals(Result.OK, Message.result(response, 0));
    assertNotEquals(0, Message.getInt(response, Message.STATS_COUNT));
    assertEquals(Protocol.MESSAGE_BYTES_MAX, client.welcome().messageBytesMax());
  }
}
