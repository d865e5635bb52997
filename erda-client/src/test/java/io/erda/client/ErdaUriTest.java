package io.erda.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ErdaUriTest {
  /** A directory may be called as a client's wish is written. */
  @Test
  void aDirectoryThatIsCalledReadOnlyIsNoWish() {
    for (boolean readOnly : new boolean[] {false, true}) {
      ErdaUri.Shm odd = new ErdaUri.Shm(Path.of("/srv/q?read-only"), readOnly);
      assertEquals(odd, ErdaUri.parse(odd.toString()));
    }
  }

  /** Found by a review: {@code ?bogus=1} was a part of the path, and no server was there. */
  @Test
  void anUnknownParameterOfSharedMemoryIsNoPartOfThePath(@TempDir Path directory)
      throws IOException {
    String[] wrong = {
      "?bogus=1", "?", "?bogus", "?read-only=1", "?read-only&bogus=1", "?secret-file=/etc/secret"
    };
    for (String each : wrong) {
      String uri = "erda+shm:" + directory + each;
      ErdaException.BadArgument e =
          assertThrows(ErdaException.BadArgument.class, () -> ErdaUri.parse(uri), uri);
      String unknown = each.substring(1);
      assertTrue(
          e.getMessage().contains("has one parameter, read-only, and not '" + unknown + "'"),
          e.getMessage());
    }
    Path odd = Files.createDirectory(directory.resolve("a?bogus=1"));
    for (String each : new String[] {"", "/", "/data"}) {
      Path path = Path.of(odd + each);
      assertEquals(new ErdaUri.Shm(path), ErdaUri.parse("erda+shm:" + odd + each));
      assertEquals(
          new ErdaUri.Shm(path, true), ErdaUri.parse("erda+shm:" + odd + each + "?read-only"));
    }
    ErdaUri.Shm absent = new ErdaUri.Shm(directory.resolve("b?c"));
    assertEquals(absent, ErdaUri.parse(absent.toString()));
  }

  @Test
  void threeForms() {
    assertEquals(
        new ErdaUri.Shm(Path.of("/var/lib/erda")), ErdaUri.parse("erda+shm:/var/lib/erda"));
    assertEquals(
        new ErdaUri.Shm(Path.of("/var/lib/erda")), ErdaUri.parse("erda+shm:///var/lib/erda"));
    ErdaUri readOnly = ErdaUri.parse("erda+shm:/var/lib/erda?read-only");
    assertEquals(new ErdaUri.Shm(Path.of("/var/lib/erda"), true), readOnly);
    assertEquals("erda+shm:/var/lib/erda?read-only", readOnly.toString());
    assertEquals(readOnly, ErdaUri.parse(readOnly.toString()));
    assertEquals(new ErdaUri.Shm(Path.of("data")), ErdaUri.parse("erda+shm:data"));
    assertEquals(new ErdaUri.Tcp("db", 7412), ErdaUri.parse("erda://db:7412"));
    assertEquals(new ErdaUri.Tcp("db", 7411), ErdaUri.parse("erda://db"));
    assertEquals(new ErdaUri.Rdma("[fe80::1]", 7411), ErdaUri.parse("erda+rdma://[fe80::1]:7411"));
    assertEquals("erda://db:7412", ErdaUri.parse("erda://db:7412").toString());
  }

  @Test
  void whatIsWrongSaysWhatIsExpected() {
    String[] wrong = {
      null,
      "",
      "erda",
      "/var/lib/erda",
      "http://host:1",
      "erda+shm:",
      "erda+shm://host/data",
      "erda+shm:\0",
      "erda://",
      "erda://:7411",
      "erda://host:",
      "erda://host:0",
      "erda://host:65536",
      "erda://host:x",
      "erda://host:1/x",
      "erda://fe80::1",
      "erda+rdma:host:1"
    };
    for (String uri : wrong) {
      ErdaException.BadArgument e =
          assertThrows(ErdaException.BadArgument.class, () -> ErdaUri.parse(uri), uri);
      assertTrue(e.getMessage().contains("expected erda+shm:/path/to/data"), e.getMessage());
    }
  }

  @Test
  void parametersStandBehindThePort() {
    ErdaUri.Tcp uri =
        (ErdaUri.Tcp) ErdaUri.parse("erda://db:7412?secret-file=/etc/erda/secret&tls");
    assertEquals(
        new ErdaUri.Tcp("db", 7412, Map.of("secret-file", "/etc/erda/secret", "tls", "")), uri);
    assertEquals("erda://db:7412?secret-file=/etc/erda/secret&tls", uri.toString());
    for (String wrong : new String[] {"erda://db?", "erda://db?=x", "erda://db?a=1&a=2"}) {
      assertThrows(ErdaException.BadArgument.class, () -> ErdaUri.parse(wrong), wrong);
    }
  }

  @Test
  void parametersThatTheDeviceDoesNotKnow() {
    ErdaException.BadArgument e =
        assertThrows(
            ErdaException.BadArgument.class, () -> ErdaClient.connect("erda://db?secret=hush"));
    assertTrue(e.getMessage().contains("secret-file"), e.getMessage());
  }

  @Test
  void devicesThatThisBuildDoesNotHave() {
    ErdaException.BadArgument e =
        assertThrows(
            ErdaException.BadArgument.class, () -> ErdaClient.connect("erda+rdma://host:7411"));
    assertTrue(e.getMessage().startsWith("this build has no "), e.getMessage());
  }

  @Test
  void directoryWithoutAServer(@TempDir Path directory) {
    for (Path data : new Path[] {directory, directory.resolve("none")}) {
      ErdaException.Unavailable e =
          assertThrows(
              ErdaException.Unavailable.class, () -> ErdaClient.connect("erda+shm:" + data));
      assertTrue(e.getMessage().contains("no server is there"), e.getMessage());
    }
  }

  @Test
  void optionsOutOfRange() {
    ClientOptions options = ClientOptions.DEFAULT;
    assertThrows(ErdaException.BadArgument.class, () -> options.withConnectTimeout(Duration.ZERO));
    assertThrows(
        ErdaException.BadArgument.class, () -> options.withOperationTimeout(Duration.ofDays(2)));
    assertThrows(ErdaException.BadArgument.class, () -> options.withPollingNs(-2));
    assertThrows(ErdaException.BadArgument.class, () -> options.withReadBytes(10));
    assertThrows(ErdaException.BadArgument.class, () -> options.withPipelineDepth(65));
  }
}
