package io.erda.launcher.commands;

import io.erda.console.UserError;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** How keys and values are written on the command line and printed: literally, or as digits. */
final class ByteForm {
  @ArgGroup private Form form;

  /** At most one of the two forms. */
  private static final class Form {
    @Option(names = "--hex", description = "Keys and values are hexadecimal digits, in and out.")
    private boolean hex;

    @Option(names = "--base64", description = "Keys and values are Base64, in and out.")
    private boolean base64;
  }

  /**
   * The bytes that an argument stands for.
   *
   * @param what names the argument in messages
   */
  byte[] bytes(String what, String text) {
    try {
      if (isHex()) {
        return HexFormat.of().parseHex(text);
      }
      return isBase64() ? Base64.getDecoder().decode(text) : ExactText.bytes(text);
    } catch (IllegalArgumentException e) {
      throw new UserError(
          what
              + (isHex() ? " is not hexadecimal: " : isBase64() ? " is not Base64: " : ": ")
              + e.getMessage(),
          2);
    }
  }

  /** Whether what is printed is a line of digits. */
  boolean isText() {
    return isHex() || isBase64();
  }

  /** The bytes to print for a value. */
  byte[] printed(byte[] bytes) {
    if (isHex()) {
      return HexFormat.of().formatHex(bytes).getBytes(StandardCharsets.US_ASCII);
    }
    return isBase64() ? Base64.getEncoder().encode(bytes) : bytes;
  }

  private boolean isHex() {
    return form != null && form.hex;
  }

  private boolean isBase64() {
    return form != null && form.base64;
  }
}
