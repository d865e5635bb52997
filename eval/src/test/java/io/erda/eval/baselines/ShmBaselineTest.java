package io.erda.eval.baselines;

import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

class ShmBaselineTest extends BaselineContract {
  @TempDir Path directory;

  @Override
  Host host() throws IOException {
    MappedDirectory files = MappedDirectory.open(directory);
    Path shm = directory.resolve("shm");
    ShmDevice device = ShmDevice.open(ShmOptions.toServe(shm, System::nanoTime));
    List<Device> clients = new ArrayList<>();
    return new Host() {
      @Override
      public MemoryDirectory directory() {
        return files;
      }

      @Override
      public Device device() {
        return device;
      }

      @Override
      public String address() {
        return shm.toString();
      }

      @Override
      public Device clientDevice() {
        try {
          Device client = ShmDevice.open(ShmOptions.toConnect(System::nanoTime));
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
        files.close();
      }
    };
  }
}
