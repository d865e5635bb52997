package io.erda.rdma.shm;

import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;

/** Devices of {@code erda+shm:}. A server's device is opened with its store, not here. */
public final class ShmDeviceProvider implements DeviceProvider {
  @Override
  public String scheme() {
    return "erda+shm";
  }

  @Override
  public Device connecting(Settings settings) throws IOException {
    settings.requireAmong();
    return ShmDevice.open(ShmOptions.toConnect(settings.nanoTime()));
  }

  @Override
  public Device serving(Settings settings) throws IOException {
    throw new IOException("a store is always served over shared memory, and in its own directory");
  }
}
