package io.erda.eval.baselines;

import static io.erda.eval.baselines.BaselineFixture.SMALL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.rdma.embedded.EmbeddedNetwork;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EmbeddedBaselineTest extends BaselineContract {
  private final HeapDirectory files = new HeapDirectory();

  @Override
  Host host() {
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
    HeapDirectory view = files.anotherView();
    Device device = network.device();
    return new Host() {
      @Override
      public MemoryDirectory directory() {
        return view;
      }

      @Override
      public Device device() {
        return device;
      }

      @Override
      public String address() {
        return "store";
      }

      @Override
      public Device clientDevice() {
        return network.device();
      }

      @Override
      public void close() {
        device.close();
        view.close();
      }
    };
  }

  /** A record of a client that asked first and writes last is below the other one. */
  @Test
  void theOrderIsThatOfThePlaces() throws IOException {
    try (Host host = host();
        BaselineFixture store = readAfterWrite(host);
        BaselineFixture.Client early = store.client(host.clientDevice());
        BaselineFixture.Client late = store.client(host.clientDevice())) {
      early.put("key", "before");
      early.beginPut("key", "first");
      store.server.doWork(); // gives a place, to which nothing is written yet
      late.put("key", "second");
      assertEquals("second", late.get("key"));
      early.run();
      assertEquals("second", late.get("key"), "a put that began before");
      store.settle();
      assertEquals("second", early.get("key"), "applied");
    }
  }

  /** A client that dies between the two leaves a hole, which ends with its connection. */
  @Test
  void aHoleIsGivenUpWithItsClient() throws IOException {
    try (Host host = host();
        BaselineFixture store = readAfterWrite(host);
        BaselineFixture.Client client = store.client(host.clientDevice())) {
      client.put("key", "value");
      BaselineFixture.Client dies = store.client(host.clientDevice());
      dies.put("key", "another");
      dies.beginPut("key", "never");
      store.server.doWork();
      dies.close();
      assertTrue(dies.failure.startsWith("failed"), dies.failure);
      for (int i = 0; i < 500; i++) {
        client.put("other", "value of some length, so that the log comes round " + i);
        client.put("other", "x".repeat(1000));
      }
      assertEquals("another", client.get("key"));
      store.settle();
      assertEquals("another", client.get("key"));
    }
  }

  /** The log is full while a client that lives has a place, and goes on when it has written. */
  @Test
  void aPlaceThatIsNotWrittenHoldsTheLog() throws IOException {
    try (Host host = host();
        BaselineFixture store = readAfterWrite(host);
        BaselineFixture.Client client = store.client(host.clientDevice());
        BaselineFixture.Client slow = store.client(host.clientDevice())) {
      slow.put("slow", "before");
      slow.beginPut("slow", "written late");
      store.server.doWork();
      IllegalStateException full =
          assertThrows(
              IllegalStateException.class,
              () -> {
                for (int i = 0; i < 500; i++) {
                  client.put("key", "x".repeat(1000));
                }
              });
      assertEquals("failed: the store is full", full.getMessage());
      assertEquals("before", client.get("slow"));
      slow.run();
      assertEquals("written late", client.get("slow"));
      client.put("key", "value");
      assertEquals("value", client.get("key"));
    }
  }

  @Test
  void aDeleteOfWhatIsNotThereStoresNothing() throws IOException {
    try (Host host = host();
        BaselineFixture store = readAfterWrite(host);
        BaselineFixture.Client early = store.client(host.clientDevice());
        BaselineFixture.Client late = store.client(host.clientDevice())) {
      assertNull(early.get("key"));
      early.beginPut("key", "first");
      store.server.doWork();
      assertEquals(false, late.delete("key"));
      early.run();
      assertEquals("first", late.get("key"), "a put that ended after the delete");
    }
  }

  @Test
  void aStoreOfTheOtherKindIsRefused() throws IOException {
    try (Host host = host()) {
      readAfterWrite(host).close();
    }
    try (Host host = host()) {
      host.directory().lock();
      assertThrows(
          IllegalStateException.class,
          () ->
              BaselineServer.open(
                  BaselineKind.REDO_LOGGING,
                  host.directory(),
                  SMALL,
                  0,
                  System::nanoTime,
                  new Random(1)));
    }
  }

  private BaselineFixture readAfterWrite(Host host) throws IOException {
    return new BaselineFixture(
        BaselineKind.READ_AFTER_WRITE,
        host.directory(),
        SMALL,
        0,
        host.device(),
        false,
        host.address());
  }
}
