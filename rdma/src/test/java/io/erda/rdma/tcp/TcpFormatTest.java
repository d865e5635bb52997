package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The worked examples of FORMAT-tcp.md are what the code writes, and its numbers what it uses. */
final class TcpFormatTest {
  @Test
  void examples() throws IOException {
    assertExample("hello", RawPeer.hello(true, nonce()));
    assertExample(
        "read", RawPeer.request(Frame.READ, 0, RawPeer.words(0x20000, 64, 8, 0x20000, 96, 3)));
    byte[] data = RawPeer.join(RawPeer.words(42), new byte[] {1, 2, 3});
    assertExample("data", RawPeer.frame(Frame.DATA, Frame.LAST, 0, 2, 0, data));
    assertExample("refused", RawPeer.frame(Frame.DONE, 0, Status.REMOTE_ACCESS, 3, 0));
  }

  private static byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    for (int i = 0; i < nonce.length; i++) {
      nonce[i] = (byte) i;
    }
    return nonce;
  }

  @Test
  void numbers() throws IOException {
    String format = Files.readString(Path.of("FORMAT-tcp.md"));
    assertTrue(format.contains("at most " + Frame.PAYLOAD_BYTES_MAX + " bytes"));
    assertTrue(format.contains("handshake " + (Frame.HANDSHAKE_BYTES_MAX - Frame.HEADER_BYTES)));
    assertTrue(format.contains("at most " + Frame.WINDOW_BYTES + " bytes of messages"));
    assertTrue(format.contains("consumed " + Frame.WINDOW_BYTES / 4));
    assertTrue(format.contains("version (4) = " + Hello.VERSION));
    assertTrue(format.contains("1 to " + Frame.READS_MAX + " READs"));
    byte[] hello = RawPeer.hello(false, new byte[Hello.NONCE_BYTES]);
    assertEquals("ERDATCP\0", new String(hello, 0, 8, StandardCharsets.US_ASCII));
  }

  private static void assertExample(String name, byte[] actual) throws IOException {
    Matcher matcher =
        Pattern.compile("```hex " + name + "\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("FORMAT-tcp.md")));
    assertTrue(matcher.find(), "example " + name);
    assertEquals(
        matcher.group(1).strip().replaceAll("\\s+", " "),
        HexFormat.ofDelimiter(" ").formatHex(actual));
  }
}
