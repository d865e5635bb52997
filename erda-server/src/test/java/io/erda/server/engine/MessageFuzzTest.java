package io.erda.server.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.fuzz.Fuzz;
import io.erda.hashtable.Entry;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that is sent anything, in hellos and in requests, goes on serving others. */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class MessageFuzzTest {
  private static final byte[] KEY = "key".getBytes(UTF_8);
  private static final byte[] VALUE = "value".getBytes(UTF_8);

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private ServerCore core;
  private RawClient bystander;

  private void open(PutMode mode) throws IOException {
    StoreEngine engine =
        StoreOpening.open(new HeapDirectory(), StoreHarness.TINY.withPutMode(mode), new Random(1));
    core =
        new ServerCore(
            engine,
            new ServiceOptions(3, 1_000_000_000L, 4096, 0, CleanerOptions.NEVER),
            () -> nowNs += 1000);
    core.listen(serverDevice, serverDevice.listen("erda"));
    bystander = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertEquals(Result.OK, put(bystander));
  }

  private int put(RawClient client) {
    int head = Entry.headOf(core.engine().keyWord(MemorySegment.ofArray(KEY), 0, KEY.length));
    RawClient.Leased leased = client.lease(head, 64);
    if (leased.result() != Result.OK) {
      return leased.result();
    }
    long regionKey = client.regionKey(leased);
    if (core.engine().putMode() == PutMode.PUBLISH) {
      int bytes = client.write(leased, leased.place(), KEY, VALUE, regionKey);
      return client.publish(leased, leased.place(), bytes, 0);
    }
    int bytes = ObjectLayout.bytes(KEY.length, VALUE.length);
    MemorySegment announced = client.announce(leased, leased.place(), KEY, bytes, 0);
    if (announced == null) {
      return Result.NO_RESERVATION;
    }
    client.write(leased, leased.place(), KEY, VALUE, regionKey);
    return Message.result(announced, 0);
  }

  private static byte[] request(int type, int length, long... bodyWords) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[128]);
    Message.putHeader(bytes, 0, type, 0, length, 7, 0, 0);
    for (int i = 0; i < bodyWords.length; i++) {
      Message.putLong(bytes, Message.BODY + 8L * i, bodyWords[i]);
    }
    return bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
  }

  private static List<byte[]> requests() {
    List<byte[]> all = new ArrayList<>();
    all.add(request(Message.LEASE, Message.LEASE_REQUEST_BYTES, 1L | 100L << 32));
    all.add(
        request(Message.PUBLISH, Message.PUBLISH_REQUEST_BYTES, (1L << 40) + 1, 8 | 18L << 32, 0));
    all.add(request(Message.END, Message.END_REQUEST_BYTES, (1L << 40) + 1));
    all.add(request(Message.MAP, Message.MAP_REQUEST_BYTES, 0));
    all.add(request(Message.STATS, Message.STATS_REQUEST_BYTES, 0));
    all.add(request(Message.RESOLVE, Message.RESOLVE_KEY + 3, 3, 0x79656b));
    all.add(request(Message.ERASE, Message.ERASE_KEY + 3, 3, 0x79656b));
    long first = (1L << 40) + 1;
    all.add(
        request(Message.ANNOUNCE, Message.ANNOUNCE_KEY + 3, first, 8 | 40L << 32, 1, 3, 0x79656b));
    long ifEqual = 1 | (long) Message.FLAG_IF_EQUAL << 32;
    all.add(
        request(
            Message.ANNOUNCE,
            Message.ANNOUNCE_IF_EQUAL_KEY + 3,
            first,
            8 | 40L << 32,
            ifEqual,
            3,
            5,
            1,
            2,
            0x79656b));
    all.add(request(Message.REPORT, Message.REPORT_REQUEST_BYTES, 0x0179656b, 8));
    return all;
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void requestsOfAClient(PutMode mode) throws IOException {
    open(mode);
    RawClient[] hostile = new RawClient[1];
    Fuzz.run(
        MessageFuzzTest.class,
        requests(),
        (input, random) -> {
          if (hostile[0] == null || hostile[0].disconnected || random.nextInt(200) == 0) {
            hostile[0] = connect(hostile[0]);
          }
          send(hostile[0], input, random);
          if (random.nextInt(50) == 0) {
            bystanderStillWorks();
          }
        });
    bystanderStillWorks();
  }

  private RawClient connect(RawClient before) {
    if (before != null) {
      before.queuePair.close();
    }
    for (int turn = 0; turn < 4; turn++) {
      bystander.step();
    }
    RawClient client = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertTrue(client.connected());
    return client;
  }

  private void send(RawClient client, byte[] input, RandomGenerator random) {
    int length = Math.min(input.length, Protocol.MESSAGE_BYTES_MAX);
    MemorySegment.copy(input, 0, client.request(), ValueLayout.JAVA_BYTE, 0, length);
    if (random.nextInt(8) > 0 && length >= Message.HEADER_BYTES) {
      // The right name, so that the body is looked at.
      Message.putInt(client.request(), 4, length);
      Message.putInt(client.request(), 16, client.welcome().clientId());
      Message.putInt(client.request(), 20, client.welcome().connectionEpoch());
    }
    if (random.nextInt(8) == 0) {
      put(client); // so that the client has a lease that can be abused
      MemorySegment.copy(input, 0, client.request(), ValueLayout.JAVA_BYTE, 0, length);
    }
    if (client.disconnected) {
      return;
    }
    client.sendRaw(length);
    MemorySegment response = client.response();
    if (response != null) {
      assertTrue(Message.result(response, 0) <= Result.OVER_QUOTA);
      assertTrue(Message.length(response, 0) <= Protocol.MESSAGE_BYTES_MAX);
    }
  }

  private void bystanderStillWorks() {
    Message.putLong(bystander.request(), Message.MAP_FROM, 0);
    MemorySegment map = bystander.ask(Message.MAP, Message.MAP_REQUEST_BYTES);
    assertEquals(Result.OK, Message.result(map, 0));
    int result = put(bystander);
    assertTrue(
        result == Result.OK || result == Result.LOG_FULL, "the log fills, nothing else happens");
  }

  @Test
  void hellos() throws IOException {
    open(PutMode.PUBLISH);
    byte[] hello = RawClient.hello().toArray(ValueLayout.JAVA_BYTE);
    Fuzz.run(
        MessageFuzzTest.class,
        List.of(hello),
        (input, random) -> {
          if (input.length > 192) {
            return;
          }
          RawClient client =
              new RawClient(core, clientDevice, "erda", MemorySegment.ofArray(input));
          if (!client.connected()) {
            Handshake.Refusal refusal = client.refusal();
            assertTrue(!refusal.text().isEmpty() && !refusal.text().contains("\n"));
          }
          client.queuePair.close();
          for (int turn = 0; turn < 4; turn++) {
            bystander.step();
          }
        });
    bystanderStillWorks();
  }
}
