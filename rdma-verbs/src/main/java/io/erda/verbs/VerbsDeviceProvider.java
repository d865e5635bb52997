package io.erda.verbs;

import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;
import java.util.List;

/**
 * Devices of {@code erda+rdma:}. The parameter {@value #DEVICE} names the RDMA device; the default
 * is the first one that has an address here.
 *
 * <p>The system property {@value #PROVIDER} chooses the caller of libibverbs: {@code auto} or
 * {@code ffm}, which are the same. DiSNI's own native library lacks what the device needs.
 */
public final class VerbsDeviceProvider implements DeviceProvider {
  public static final String DEVICE = "device";
  public static final String PROVIDER = "erda.rdma.provider";

  @Override
  public String scheme() {
    return "erda+rdma";
  }

  @Override
  public List<String> hosts() throws IOException {
    return Gids.hosts();
  }

  @Override
  public Device connecting(Settings settings) throws IOException {
    return open(settings);
  }

  @Override
  public Device serving(Settings settings) throws IOException {
    return open(settings);
  }

  private static Device open(Settings settings) throws IOException {
    settings.requireAmong(DEVICE);
    String provider = System.getProperty(PROVIDER, "auto");
    switch (provider) {
      case "auto", "ffm" -> {}
      case "disni" ->
          throw new IOException(
              PROVIDER
                  + "=disni: DiSNI's native library can't register memory under an address of"
                  + " choice, which the device needs; take auto or ffm");
      default -> throw new IOException(PROVIDER + " is auto or ffm, and not " + provider);
    }
    return VerbsDevice.open(
        settings.parameters().get(DEVICE), settings.nanoTime(), settings.random().get());
  }
}
