package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.rdma.DeviceProvider.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the errors about files that parameters name. */
final class TcpDeviceProviderTest {
  @TempDir private Path directory;

  private static void assertSays(String said, String... parameters) {
    Map<String, String> all =
        parameters.length == 2
            ? Map.of(parameters[0], parameters[1])
            : Map.of(parameters[0], parameters[1], parameters[2], parameters[3]);
    Settings settings = Settings.of(all, System::nanoTime, SecureRandom::new);
    TcpDeviceProvider provider = new TcpDeviceProvider();
    boolean client = !all.containsKey("tls-cert");
    IOException e =
        assertThrows(
            IOException.class,
            () -> (client ? provider.connecting(settings) : provider.serving(settings)).close());
    assertEquals(said, e.getMessage());
  }

  @Test
  void aFileThatIsNotThereIsNamedWithItsParameter() {
    String nope = directory.resolve("nope").toString();
    String there = directory.toString();
    assertSays("secret-file names a file that is not there: " + nope, "secret-file", nope);
    assertSays("tls-ca names a file that is not there: " + nope, "tls-ca", nope);
    assertSays(
        "tls-cert names a file that is not there: " + nope, "tls-cert", nope, "tls-key", nope);
    assertSays("secret-file names a directory, and no file: " + there, "secret-file", there);
    assertSays("secret-file names no file", "secret-file", "");
    assertSays("tls-ca names no file", "tls-ca", "");
  }

  @Test
  void aFileThatMayHaveNoEndIsNotRead() {
    assertSays("/dev/zero is no regular file", "tls-ca", "/dev/zero");
    assertSays("/dev/zero is no regular file", "secret-file", "/dev/zero");
  }
}
