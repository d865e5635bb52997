package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.service.Turn;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The thread that brings requests handles them, while the server's thread sleeps. */
class ServedByDevicesTest {
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

  private static final int POLLING_NS = 1_000_000;

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private ServerCore core;
  private RawClient client;
  private int turns;
  private int wakeups;

  /** Whether another thread has the turn. */
  private boolean busy;

  private boolean take(BooleanSupplier step) {
    if (busy) {
      return false;
    }
    turns++;
    return step.getAsBoolean();
  }

  private void serve(CoreSurroundings surroundings) throws IOException {
    core =
        new ServerCore(
            StoreOpening.open(new HeapDirectory(), StoreHarness.TINY, new Random(7)),
            new ServiceOptions(3, 1L << 50, 4096, POLLING_NS, CleanerOptions.NEVER),
            surroundings,
            () -> nowNs += 1000);
    core.listen(serverDevice, serverDevice.listen("erda"));
    client = new RawClient(core, network.device(), "erda", RawClient.hello());
    assertTrue(client.connected());
    serverDevice.forwardWakeups(() -> wakeups++);
    sleep();
  }

  /** Does what the server's thread does before it sleeps. */
  private void sleep() {
    while (core.doWork() > 0 || !core.arm()) {
      client.poll();
    }
    turns = 0;
    wakeups = 0;
  }

  private void sendPut() {
    RawClient.Leased leased = client.lease(0, 64);
    int bytes = client.write(leased, leased.place(), KEY, VALUE, leased.key());
    sleep();
    client.publishLater(leased, leased.place(), bytes, 0);
    client.poll();
  }

  @AfterEach
  void close() {
    core.close();
  }

  @Test
  void manyRequestsAreAnsweredWithoutAnyStepBetweenThem() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(this::take));
    for (int i = 1; i <= 40; i++) {
      client.send(Message.MAP, Message.HEADER_BYTES);
      client.poll();
      assertTrue(client.isAnswered(), "request " + i);
      client.takeAnswer();
      assertEquals(i, turns);
    }
    assertEquals(0, wakeups);
  }

  @Test
  void aPutIsDoneInTheThreadThatBringsIt() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(this::take));
    sendPut();
    assertTrue(client.isAnswered());
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(1, turns);
    assertEquals(0, wakeups);
  }

  @Test
  void theServersThreadIsWokenWhereTheTurnIsTaken() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(this::take));
    busy = true;
    sendPut();
    assertFalse(client.isAnswered());
    assertEquals(1, wakeups);
    assertEquals(Result.OK, Message.result(client.response(), 0));
  }

  /** Cleaning, housekeeping and what other threads wait for need steps of the server. */
  @Test
  void theServersThreadIsWokenNowAndThen() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(this::take));
    nowNs += 10_000_000;
    sendPut();
    nowNs += 10_000_000;
    assertTrue(client.isAnswered());
    client.takeAnswer();
    client.send(Message.MAP, Message.HEADER_BYTES);
    client.poll();
    assertTrue(client.isAnswered());
    assertEquals(1, wakeups);
  }

  @Test
  void theServersThreadIsWokenToCloseWhoMisbehaves() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(this::take));
    client.sendRaw(8);
    client.poll();
    assertEquals(1, wakeups);
    assertNull(client.response());
  }

  /** Its polling would take each request from the thread that brings it. */
  @Test
  void theServersThreadDoesNotPollForThem() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(this::take));
    assertFalse(isToSleepAfterARequest());
    nowNs += POLLING_NS;
    assertTrue(isToSleepAfterARequest());
  }

  @Test
  void theServersThreadPollsForRequestsThatWaitForIt() throws IOException {
    serve(CoreSurroundings.NONE);
    nowNs += POLLING_NS;
    assertFalse(isToSleepAfterARequest());
  }

  private boolean isToSleepAfterARequest() {
    busy = true;
    client.send(Message.MAP, Message.HEADER_BYTES);
    while (core.doWork() > 0) {
      client.poll();
    }
    client.takeAnswer();
    return core.didOthersWork();
  }

  /** There several requests are made durable together. */
  @Test
  void aServerThatWaitsForItsDeviceCollectsRequestsByItself() throws IOException {
    HeldSyncs syncs = new HeldSyncs();
    serve(CoreSurroundings.NONE.withSyncs(syncs).withTurn(this::take));
    client.send(Message.MAP, Message.HEADER_BYTES);
    client.poll();
    assertFalse(client.isAnswered());
    assertEquals(0, turns);
    assertEquals(1, wakeups);
  }

  @Test
  void withoutTurnsTheServersThreadIsWoken() throws IOException {
    serve(CoreSurroundings.NONE.withTurn(Turn.NONE));
    sendPut();
    assertFalse(client.isAnswered());
    assertEquals(1, wakeups);
  }
}
