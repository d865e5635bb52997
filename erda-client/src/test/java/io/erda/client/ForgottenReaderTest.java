package io.erda.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.calls.Forgotten;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.ReadingDevices;
import io.erda.client.files.ReadOnlyDevice;
import io.erda.client.files.SteppedFiles;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Device;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.rdma.testing.ForwardingDevice;
import io.erda.rdma.testing.ForwardingQueuePair;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client that reads the files itself, because there is no room for a connection on their file
 * system, closes them: when it is closed, and when it was forgotten.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForgottenReaderTest {
  private final Logger logger = Logger.getLogger(Forgotten.LOGGER);
  private final SteppedFiles files = new SteppedFiles();

  @BeforeEach
  void sayNothing() {
    logger.setLevel(Level.OFF);
  }

  @AfterEach
  void sayAllAgain() {
    logger.setLevel(null);
  }

  /** Over this device no connection can be made: its file system takes no new file. */
  private static final class FullDevice extends ForwardingDevice {
    FullDevice() {
      super(new EmbeddedNetwork(System::nanoTime).device());
    }

    @Override
    public QueuePair connect(String address, MemorySegment privateData, Duration timeout) {
      return new ForwardingQueuePair(super.connect(address, privateData, timeout)) {
        @Override
        public int poll(CompletionHandler handler, int limit) {
          return super.poll(
              (id, opcode, status, bytes, immediate) ->
                  handler.onCompletion(
                      id,
                      opcode,
                      opcode == Opcode.CONNECT ? Status.UNWRITABLE : status,
                      bytes,
                      immediate),
              limit);
        }
      };
    }
  }

  private ErdaClient connect() {
    Device device = new FullDevice();
    return ErdaClient.blocking(
        ClientContext.of(device, "store", ClientOptions.DEFAULT, System::nanoTime, 0)
            .reading(new ReadingDevices(() -> new ReadOnlyDevice(() -> files, System::nanoTime))),
        device);
  }

  @Test
  void whatWasClosedHasNothingOpen() {
    try (ErdaClient client = connect()) {
      assertTrue(files.open() > 0, "it reads the files");
      assertTrue(client.keyBytesMax() > 0);
    }
    assertEquals(0, files.open());
  }

  /** The device of the connections alone was closed once, and not the one that reads. */
  @Test
  void whatWasForgottenHasNothingOpen() throws InterruptedException {
    connect();
    assertTrue(files.open() > 0, "it reads the files");
    while (files.open() > 0) {
      System.gc();
      Thread.sleep(20);
    }
  }
}
