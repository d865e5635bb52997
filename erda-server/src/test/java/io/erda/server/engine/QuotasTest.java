package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.hashtable.Entry;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.Limits;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A client or user that has reached a quota is refused more, and a refused request leaves nothing
 * behind: space is given again as soon as there is some.
 */
class QuotasTest {
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);
  private static final Limits USUAL = Limits.of(128);

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private final List<String> told = new ArrayList<>();
  private ServerCore core;

  private void serve(Limits limits) throws IOException {
    serve(limits, StoreHarness.TINY);
  }

  private void serve(Limits limits, StoreGeometry geometry) throws IOException {
    StoreEngine engine = StoreOpening.open(new HeapDirectory(), geometry, new Random(7));
    core =
        new ServerCore(
            engine,
            new ServiceOptions(
                128, 1L << 50, 4096, 0, CleanerOptions.NEVER, limits, TableGrowthOptions.DEFAULT),
            CoreSurroundings.NONE.withListener(
                new ServiceListener() {
                  @Override
                  public void overQuota(String why, int clientId, String peer) {
                    told.add(why);
                  }
                }),
            () -> nowNs += 1000);
    core.listen(serverDevice, serverDevice.listen("own"));
    for (String user : List.of("guest", "other")) {
      core.listen(serverDevice, new ListenerOfAnotherUser(serverDevice.listen(user), user));
    }
  }

  @AfterEach
  void close() {
    core.close();
  }

  private RawClient tryConnecting(String as) {
    return new RawClient(core, clientDevice, as, RawClient.hello());
  }

  private RawClient connect(String as) {
    RawClient client = tryConnecting(as);
    assertTrue(client.connected());
    return client;
  }

  private static Limits leasing(long perClient, long perUser) {
    return new Limits(
        USUAL.connectionsPerUser(),
        perClient,
        perUser,
        USUAL.operationsPerClient(),
        USUAL.operationsPerUser());
  }

  private static Limits operating(int perClient, int perUser) {
    return new Limits(
        USUAL.connectionsPerUser(), USUAL.leasedBytesPerClient(), 0, perClient, perUser);
  }

  private int end(RawClient client, RawClient.Leased leased) {
    Message.putLong(client.request(), Message.END_RESERVATION, leased.reservation());
    return Message.result(client.ask(Message.END, Message.END_REQUEST_BYTES), 0);
  }

  private int headOfKey() {
    return Entry.headOf(core.engine().keyWord(MemorySegment.ofArray(KEY), 0, KEY.length));
  }

  private long openBytes() {
    return core.engine().log().openBytes();
  }

  @Test
  void aUserHasItsConnectionsAndNoMore() throws IOException {
    serve(new Limits(2, Long.MAX_VALUE, 0, 32, Integer.MAX_VALUE));
    RawClient first = connect("guest");
    connect("guest");
    RawClient third = tryConnecting("guest");
    assertFalse(third.connected());
    assertEquals(Handshake.Refusal.CONNECTIONS, third.refusal().reason());
    assertEquals(
        "user guest has all 2 connections that a user other than the server's may have",
        third.refusal().text());
    assertEquals(1, core.figures().get("connections.refused.user"));

    connect("other");
    for (int i = 0; i < 4; i++) {
      connect("own");
    }
    first.queuePair.close();
    nowNs += 1_000_000;
    connect("guest");
  }

  @Test
  void aClientLeasesItsBytesAndNoMore() throws IOException {
    serve(leasing(6_000, 0));
    RawClient client = connect("own");
    RawClient.Leased first = client.lease(0, 3_000);
    assertEquals(Result.OK, first.result());

    assertEquals(Result.OVER_QUOTA, client.lease(0, 3_500).result());
    assertEquals(List.of("the server leases at most 6000 bytes of the log to a client"), told);
    assertEquals(1, core.figures().get("requests.refused.quota"));
    assertEquals(first.length(), openBytes(), "nothing of what was refused is open");

    assertEquals(Result.OK, connect("own").lease(0, 3_500).result(), "another client has its own");
    assertEquals(Result.OK, end(client, first));
    assertEquals(Result.OK, client.lease(0, 3_500).result());
  }

  /**
   * The client keeps no space of a head that it does not ask for: otherwise it would be refused
   * because of unused space.
   */
  @Test
  void whatAClientHasInOtherHeadsIsTakenBackFirst() throws IOException {
    serve(leasing(6_000, 0));
    RawClient client = connect("own");
    RawClient.Leased first = client.lease(1, 3_000);
    assertEquals(Result.OK, client.lease(0, 3_500).result());
    assertEquals(Result.NO_RESERVATION, end(client, first));
  }

  /** A quota that is less than one object would stop every put. */
  @Test
  void whoHasNothingGetsRoomForOneObject() throws IOException {
    serve(leasing(100, 100));
    RawClient client = connect("guest");
    RawClient.Leased leased = client.lease(0, 3_000);
    assertEquals(Result.OK, leased.result());
    assertEquals(Result.OVER_QUOTA, client.lease(0, 3_000).result());
    assertEquals(Result.OK, end(client, leased));
    assertEquals(Result.OK, client.lease(0, 3_000).result());
  }

  /** Extents become longer for a client that writes much, but several always fit into the quota. */
  @Test
  void severalExtentsFitIntoAQuota() throws IOException {
    serve(leasing(8_000, 0));
    RawClient client = connect("own");
    for (int i = 0; i < 50; i++) {
      RawClient.Leased leased = client.lease(0, 40);
      assertEquals(Result.OK, leased.result());
      assertTrue(leased.length() <= 2_000, leased.length() + " bytes");
    }
    assertTrue(openBytes() <= 8_000, openBytes() + " bytes");
  }

  @Test
  void allClientsOfAUserLeaseItsBytesAndNoMore() throws IOException {
    serve(leasing(Long.MAX_VALUE, 6_000));
    RawClient first = connect("guest");
    RawClient second = connect("guest");
    assertEquals(Result.OK, first.lease(0, 3_000).result());
    assertEquals(Result.OVER_QUOTA, second.lease(0, 3_500).result());
    assertEquals(
        List.of("the server leases at most 6000 bytes of the log to the clients of one user"),
        told);

    assertEquals(Result.OK, connect("other").lease(0, 3_500).result());
    RawClient own = connect("own");
    assertEquals(Result.OK, own.lease(0, 3_500).result());
    assertEquals(Result.OK, own.lease(0, 3_500).result());

    first.queuePair.close();
    nowNs += 1_000_000;
    second.step();
    second.step();
    assertEquals(Result.OK, second.lease(0, 3_500).result());
  }

  /** A client that leases and does nothing keeps its user's other clients waiting for a moment. */
  @Test
  void whatAUsersClientsDoNotUseIsTakenBackForAnother() throws IOException {
    serve(leasing(Long.MAX_VALUE, 6_000));
    RawClient first = connect("guest");
    RawClient second = connect("guest");
    RawClient.Leased idle = first.lease(0, 3_000);
    assertEquals(Result.OVER_QUOTA, second.lease(0, 3_500).result());
    nowNs += 200_000_000L;
    assertEquals(Result.OK, second.lease(0, 3_500).result());
    assertEquals(Result.NO_RESERVATION, end(first, idle));
  }

  /** By default a user has half of the log, and the owner's clients have the rest. */
  @Test
  void oneUserDoesNotLeaseTheWholeLog() throws IOException {
    serve(USUAL, new StoreGeometry(new LogGeometry(1, 1 << 16, 4096, 4), 16));
    int bytes = core.engine().log().geometry().objectBytesMax();
    long half = core.engine().log().geometry().capacityBytes() / 2;
    int result = Result.OK;
    while (result == Result.OK) {
      result = connect("guest").lease(0, bytes).result();
    }
    assertEquals(Result.OVER_QUOTA, result);
    assertTrue(openBytes() <= half && openBytes() + bytes > half, openBytes() + " bytes are open");
    assertEquals(Result.OK, connect("own").lease(0, bytes).result());
  }

  @Test
  void aClientHasItsOperationsUnderWayAndNoMore() throws IOException {
    serve(operating(1, Integer.MAX_VALUE));
    RawClient client = connect("own");
    assertEquals(1, client.welcome().requestsMax());
    refuseOneOfTwo(client, client, "the server takes at most 1 operations under way of a client");
  }

  @Test
  void allClientsOfAUserHaveItsOperationsUnderWayAndNoMore() throws IOException {
    serve(operating(32, 1));
    String why = "the server takes at most 1 operations under way of the clients of one user";
    refuseOneOfTwo(connect("guest"), connect("guest"), why);
  }

  /** The first one's put takes effect; the second one's is as if it had never been. */
  private void refuseOneOfTwo(RawClient first, RawClient second, String why) {
    int head = headOfKey();
    RawClient.Leased ofFirst = first.lease(head, 64);
    RawClient.Leased ofSecond = second.lease(head, 64);
    int bytes = first.write(ofFirst, ofFirst.place(), KEY, VALUE, first.regionKey(ofFirst));
    second.write(ofSecond, ofSecond.place(), KEY, VALUE, second.regionKey(ofSecond));

    first.publishLater(ofFirst, ofFirst.place(), bytes, Message.FLAG_IF_ABSENT);
    second.publishLater(ofSecond, ofSecond.place(), bytes, 0);
    int[] results = {Message.result(first.response(), 0), Message.result(second.response(), 0)};
    if (first == second) {
      assertEquals(Result.OVER_QUOTA, Math.max(results[0], results[1]));
      assertEquals(Result.OK, Math.min(results[0], results[1]));
    } else {
      assertEquals(Result.OK, results[0]);
      assertEquals(Result.OVER_QUOTA, results[1]);
    }
    assertEquals(List.of(why), told);
    assertEquals(1, core.writer().puts().puts());
    assertEquals(Result.OK, second.publish(ofSecond, ofSecond.place(), bytes, 0));
    assertEquals(1, core.figures().get("requests.answered.put.overquota"));
  }
}
