package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.hashtable.Entry;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.Status;
import io.erda.rdma.tcp.TcpClientDevice;
import io.erda.rdma.tcp.TcpOptions;
import io.erda.rdma.tcp.TcpServerDevice;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where the device can hold it to that, a client WRITEs to its open leases alone (rule 7). */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LeaseGrantTest {
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] VALUE = "value".getBytes(StandardCharsets.UTF_8);

  @Test
  void aClientWritesToItsOpenLeasesAlone() throws Exception {
    TcpOptions options = TcpOptions.of(System::nanoTime, new Random(1));
    StoreEngine engine = StoreOpening.open(new HeapDirectory(), StoreHarness.TINY, new Random(2));
    try (Device server = TcpServerDevice.open(options);
        Device device = TcpClientDevice.open(options);
        ServerCore core =
            new ServerCore(
                engine,
                new ServiceOptions(8, 60_000_000_000L, 4096, 0, CleanerOptions.NEVER),
                System::nanoTime)) {
      Listener listener = server.listen("127.0.0.1:0");
      core.listen(server, listener);
      RawClient client = new RawClient(core, device, listener.address(), RawClient.hello());
      RawClient other = new RawClient(core, device, listener.address(), RawClient.hello());
      assertTrue(client.connected() && other.connected());
      int head = Entry.headOf(engine.keyWord(java.lang.foreign.MemorySegment.ofArray(KEY), 0, 3));
      RawClient.Leased leased = client.lease(head, 200);
      assertEquals(Result.OK, leased.result());
      assertNotEquals(client.regionKey(leased), leased.key());

      // With the region's key, which is to READ with; with another client's; behind the lease.
      assertRefused(client, leased, leased.place(), client.regionKey(leased));
      assertRefused(other, leased, leased.place(), leased.key());
      assertRefused(client, leased, leased.place() + leased.length(), leased.key());

      int bytes = client.write(leased, leased.place(), KEY, VALUE, leased.key());
      assertEquals(Result.OK, client.publish(leased, leased.place(), bytes, 0));
      assertEquals(Status.SUCCESS, client.writeStatus);

      Message.putLong(client.request(), Message.END_RESERVATION, leased.reservation());
      client.ask(Message.END, Message.END_REQUEST_BYTES);
      assertRefused(client, leased, leased.place() + 64, leased.key());
    }
  }

  private static void assertRefused(
      RawClient client, RawClient.Leased leased, long place, long key) {
    client.writeStatus = Status.SUCCESS;
    client.write(leased, place, KEY, VALUE, key);
    for (int i = 0; i < 1_000_000 && client.writeStatus == Status.SUCCESS; i++) {
      client.step();
    }
    assertEquals(Status.REMOTE_ACCESS, client.writeStatus);
    client.writeStatus = Status.SUCCESS;
  }
}
