package io.erda.client.connections;

import io.erda.client.ErdaUri;
import io.erda.client.files.ReadOnlyDevice;
import io.erda.pmem.MappedReadableDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.protocol.Protocol;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.function.LongSupplier;

/** Wiring: the device for a URI, and the clock. */
public final class Devices {
  public static final LongSupplier CLOCK = System::nanoTime;

  public static Device open(ErdaUri uri) {
    try {
      return openOrThrow(uri);
    } catch (Error e) {
      if (e instanceof StackOverflowError || JvmErrors.explain(e) == null) {
        throw e;
      }
      throw unusable(uri, e);
    }
  }

  /**
   * Turns an error of the JVM that the machine or the installation causes into a typed exception.
   */
  public static ErdaException unusable(ErdaUri uri, Error e) {
    return new ErdaException.Unusable("can't connect to " + uri + ": " + JvmErrors.tell(e), e);
  }

  private static Device openOrThrow(ErdaUri uri) {
    if (uri instanceof ErdaUri.Shm shm && shm.readOnly()) {
      return new ReadOnlyDevice(() -> MappedReadableDirectory.open(shm.data()), CLOCK);
    }
    DeviceProvider provider =
        DeviceProvider.of(scheme(uri))
            .orElseThrow(() ->
                new ErdaException.BadArgument(
                    "this build has no device for "
                        + uri
                        + "; that of erda+rdma:// is in io.erda:erda-rdma-verbs"));
    try {
      return provider.connecting(
          DeviceProvider.Settings.of(parameters(uri), CLOCK, SecureRandom::new));
    } catch (IllegalArgumentException e) {
      throw new ErdaException.BadArgument(uri + ": " + e.getMessage());
    } catch (IOException e) {
      throw new ErdaException.Unavailable("no device for " + uri + ": " + e.getMessage());
    }
  }

  /**
   * Makes devices that read the files of a store on this host, for use when the file system is full
   * or failed and no connection is possible; null when the URI is of no such store.
   */
  public static ReadingDevices reading(ErdaUri uri) {
    return uri instanceof ErdaUri.Shm shm && !shm.readOnly()
        ? new ReadingDevices(
            () -> new ReadOnlyDevice(() -> MappedReadableDirectory.open(shm.data()), CLOCK))
        : null;
  }

  private static String scheme(ErdaUri uri) {
    String text = uri.toString();
    return text.substring(0, text.indexOf(':'));
  }

  private static Map<String, String> parameters(ErdaUri uri) {
    return switch (uri) {
      case ErdaUri.Shm ignored -> Map.of();
      case ErdaUri.Tcp tcp -> tcp.parameters();
      case ErdaUri.Rdma rdma -> rdma.parameters();
    };
  }

  public static String address(ErdaUri uri) {
    return switch (uri) {
      case ErdaUri.Shm shm when shm.readOnly() -> shm.data().toAbsolutePath().toString();
      case ErdaUri.Shm shm ->
          shm.data().resolve(Protocol.SHM_DIRECTORY).toAbsolutePath().toString();
      case ErdaUri.Tcp tcp -> tcp.host() + ":" + tcp.port();
      case ErdaUri.Rdma rdma -> rdma.host() + ":" + rdma.port();
    };
  }

  private Devices() {}
}
