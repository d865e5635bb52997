package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server whose process gives up rights when its addresses are taken, before it opens its store.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BeforeOpeningTest {
  @TempDir Path directory;

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void take(int port) throws IOException {
    new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
  }

  private Path secret() throws IOException {
    Path file = Files.writeString(directory.resolve("secret"), "sixteen bytes at least");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  void addressesAreTakenAndFilesReadBeforeAnythingIsMade() throws Exception {
    Path data = directory.resolve("data");
    Path secret = secret();
    int port = freePort();
    Listening listening =
        new Listening("erda", "127.0.0.1:" + port, Map.of("secret-file", secret.toString()));
    ServerOptions options = SmallStore.OPTIONS.withListening(List.of(listening));
    int[] called = {0};
    Runnable before =
        () -> {
          called[0]++;
          assertThrows(BindException.class, () -> take(port));
          assertFalse(Files.exists(data));
          // As if it could not be read any more.
          try {
            Files.writeString(secret, "another one of sixteen", StandardCharsets.US_ASCII);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        };
    try (ErdaServer server = ErdaServer.start(data, options, before)) {
      assertEquals(1, called[0]);
      String uri = server.uris().getLast();
      assertEquals("erda://127.0.0.1:" + port, uri);
      Files.writeString(secret, "sixteen bytes at least");
      try (ErdaClient erda = ErdaClient.connect(uri + "?secret-file=" + secret)) {
        erda.put(new byte[] {1}, new byte[] {2});
      }
    }
  }

  @Test
  void whatItThrowsEndsTheStartAndGivesAddressesBack() throws Exception {
    Path data = directory.resolve("data");
    int port = freePort();
    ServerOptions options =
        SmallStore.OPTIONS.withListening(List.of(Listening.tcp("127.0.0.1:" + port)));
    RuntimeException thrown = new IllegalStateException();
    assertSame(
        thrown,
        assertThrows(
            IllegalStateException.class,
            () ->
                ErdaServer.start(
                    data,
                    options,
                    () -> {
                      throw thrown;
                    })));
    assertFalse(Files.exists(data));
    take(port);
  }

  @Test
  void anAddressThatIsTakenPreventsIt() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ServerOptions options =
          SmallStore.OPTIONS.withListening(
              List.of(Listening.tcp("127.0.0.1:" + other.getLocalPort())));
      ErdaException.Unusable e =
          assertThrows(
              ErdaException.Unusable.class,
              () ->
                  ErdaServer.start(
                      directory.resolve("data"),
                      options,
                      () -> {
                        throw new AssertionError("called");
                      }));
      assertTrue(e.getMessage().startsWith("can't listen at 127.0.0.1:"), e.getMessage());
    }
  }
}
