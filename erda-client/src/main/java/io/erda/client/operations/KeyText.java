package io.erda.client.operations;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/**
 * A key in one line, for messages: quoted when it is printable ASCII, else in hexadecimal; cut when
 * it is long.
 */
public final class KeyText {
  private static final int BYTES_MAX = 64;

  public static String of(byte[] key) {
    return of(MemorySegment.ofArray(key), 0, key.length);
  }

  public static String of(MemorySegment memory, long at, int length) {
    byte[] bytes = memory.asSlice(at, Math.min(length, BYTES_MAX)).toArray(ValueLayout.JAVA_BYTE);
    StringBuilder text = new StringBuilder("key ");
    if (printable(bytes)) {
      text.append('\'')
          .append(new String(bytes, java.nio.charset.StandardCharsets.US_ASCII))
          .append('\'');
    } else {
      text.append("0x").append(HexFormat.of().formatHex(bytes));
    }
    return length > BYTES_MAX
        ? text.append("… (").append(length).append(" bytes)").toString()
        : text.toString();
  }

  private static boolean printable(byte[] bytes) {
    for (byte b : bytes) {
      if (b < ' ' || b > '~' || b == '\'') {
        return false;
      }
    }
    return true;
  }

  private KeyText() {}
}
