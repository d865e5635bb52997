package io.erda.rdma;

import java.io.IOException;
import java.nio.file.Path;

/** {@link DeviceContract} for the shm device. */
final class ShmDeviceTest extends DeviceContract {
  @Override
  protected DeviceFixture open(Path emptyDirectory) throws IOException {
    return new ShmFixture(emptyDirectory);
  }
}
