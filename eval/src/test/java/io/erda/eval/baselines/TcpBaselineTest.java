package io.erda.eval.baselines;

import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.rdma.Device;
import io.erda.rdma.tcp.TcpClientDevice;
import io.erda.rdma.tcp.TcpOptions;
import io.erda.rdma.tcp.TcpServerDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Tests over TCP, where a client WRITEs only to places that it was given, and with memory whose
 * caches are lost with the power: a put of Read After Write ends with a FLUSH, or in every other
 * life of the server with a message.
 */
class TcpBaselineTest extends BaselineContract {
  private final HeapDirectory files = new HeapDirectory(1L << 30, Survives.POWER_FAILURE);
  private int lives;

  /** Threads take turns for each of them. */
  @Override
  int operations() {
    return 50;
  }

  @Override
  Host host() throws IOException {
    TcpOptions options = TcpOptions.of(System::nanoTime, new Random(1));
    HeapDirectory view = files.anotherView();
    Device device = TcpServerDevice.open(options);
    List<Device> clients = new ArrayList<>();
    boolean flushes = lives++ % 2 == 0;
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
      public boolean flushesPersist() {
        return flushes;
      }

      @Override
      public String address() {
        return "127.0.0.1:0";
      }

      @Override
      public Device clientDevice() {
        try {
          Device client = TcpClientDevice.open(options);
          clients.add(client);
          return client;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }

      @Override
      public void close() {
        clients.forEach(Device::close);
        device.close();
        view.close();
      }
    };
  }
}
