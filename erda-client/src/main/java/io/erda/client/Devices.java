package io.erda.client;

import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import io.erda.rdma.ShmDevice;
import io.erda.rdma.ShmOptions;
import java.io.IOException;
import java.util.function.LongSupplier;

/** Wiring: the device and the clock for a URI. */
final class Devices {
  static final LongSupplier CLOCK = System::nanoTime;

  /** The directory of the server's shared-memory device, in its data directory. */
  private static final String SHM_DIRECTORY = "shm";

  static Device open(ErdaUri uri) {
    return switch (uri) {
      case ErdaUri.Shm ignored -> shm();
      case ErdaUri.Tcp ignored -> throw missing(uri, "TCP");
      case ErdaUri.Rdma ignored -> throw missing(uri, "RDMA");
    };
  }

  private static Device shm() {
    try {
      return ShmDevice.open(ShmOptions.toConnect(CLOCK));
    } catch (IOException e) {
      throw new ErdaException.Unavailable("no shared-memory device: " + e);
    }
  }

  static String address(ErdaUri uri) {
    return switch (uri) {
      case ErdaUri.Shm shm -> shm.data().resolve(SHM_DIRECTORY).toAbsolutePath().toString();
      case ErdaUri.Tcp tcp -> tcp.host() + ":" + tcp.port();
      case ErdaUri.Rdma rdma -> rdma.host() + ":" + rdma.port();
    };
  }

  private static ErdaException.BadArgument missing(ErdaUri uri, String device) {
    return new ErdaException.BadArgument(
        "this build has no " + device + " device for " + uri + "; it has erda+shm:/path/to/data");
  }

  private Devices() {}
}
