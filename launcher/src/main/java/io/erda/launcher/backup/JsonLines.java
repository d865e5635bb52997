package io.erda.launcher.backup;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.util.Base64;
import java.util.Set;

/**
 * A key and its value as an object of JSON on a line of its own: {@code {"key":"…","value":"…"}},
 * or {@code "key64"} and {@code "value64"} in Base64 when the bytes are no text in UTF-8.
 */
public final class JsonLines {
  /** A line is no such object. */
  public static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * @param message what is wrong with the line, without its number
     */
    public MalformedException(String message) {
      super(message);
    }
  }

  /**
   * It has no limits for strings, names and numbers: the store limits keys and values, and a line
   * is no longer than both. The library names no place for what breaks its own limits.
   */
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .build())
          .build();

  /** Longer names of unknown members are cut in messages. */
  private static final int NAME_MAX = 16;

  private static final Set<String> MEMBERS = Set.of("key", "key64", "value", "value64");

  /**
   * The content of a line.
   *
   * @param key not empty
   */
  public record Entry(byte[] key, byte[] value) {}

  /** The line of a key, with its line end. */
  public static byte[] line(byte[] key, byte[] value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(key.length + value.length + 32);
    try (JsonGenerator to = JSON.createGenerator(out)) {
      to.writeStartObject();
      write(to, "key", key);
      write(to, "value", value);
      to.writeEndObject();
    } catch (IOException e) {
      throw new AssertionError("into memory", e);
    }
    out.write('\n');
    return out.toByteArray();
  }

  private static void write(JsonGenerator to, String name, byte[] bytes) throws IOException {
    CharBuffer text = text(bytes);
    if (text == null) {
      to.writeStringField(name + "64", Base64.getEncoder().encodeToString(bytes));
    } else {
      to.writeStringField(name, text.toString());
    }
  }

  /** The text of bytes; null when they are no UTF-8. */
  private static CharBuffer text(byte[] bytes) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /**
   * Reads a line.
   *
   * @throws MalformedException when it is not one object with one key and one value
   */
  public static Entry entry(byte[] line, int length) throws MalformedException {
    byte[] key = null;
    byte[] value = null;
    try (JsonParser in =
        JSON.createParser(
            new InputStreamReader(new ByteArrayInputStream(line, 0, length), decoder()))) {
      require(in.nextToken() == JsonToken.START_OBJECT, "an object is wanted");
      while (in.nextToken() != JsonToken.END_OBJECT) {
        String name = in.currentName();
        require(MEMBERS.contains(name), "'" + cut(name) + "' is not known");
        require(in.nextToken() == JsonToken.VALUE_STRING, "'" + name + "' is no string");
        byte[] bytes = name.endsWith("64") ? decoded(name, in.getText()) : encoded(in.getText());
        switch (name) {
          case "key", "key64" -> {
            require(key == null, "it has two keys");
            key = bytes;
          }
          default -> { // "value" or "value64"
            require(value == null, "it has two values");
            value = bytes;
          }
        }
      }
      require(in.nextToken() == null, "something follows the object");
    } catch (JacksonException e) {
      throw new MalformedException(inWords(e, new String(line, 0, length, UTF_8)));
    } catch (CharacterCodingException e) {
      throw new MalformedException("it is no text in UTF-8");
    } catch (IOException e) {
      throw new AssertionError("from memory", e);
    }
    require(key != null && key.length > 0, "it has no key");
    require(value != null, "it has no value");
    return new Entry(key, value);
  }

  /** What is wrong with a line, without the words of the library that reads it. */
  private static String inWords(JacksonException e, String line) {
    boolean atItsEnd =
        e instanceof JsonEOFException || e.getLocation().getCharOffset() >= line.length();
    return atItsEnd
        ? "it ends before its object does: was it cut?"
        : "it is no JSON at character " + Math.max(1, e.getLocation().getColumnNr());
  }

  private static String cut(String name) {
    return name.codePointCount(0, name.length()) <= NAME_MAX
        ? name
        : name.substring(0, name.offsetByCodePoints(0, NAME_MAX)) + "…";
  }

  /** A decoder for UTF-8 that reports errors instead of replacing bytes. */
  private static CharsetDecoder decoder() {
    return UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPORT);
  }

  private static byte[] decoded(String name, String text) throws MalformedException {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new MalformedException("'" + name + "' is not Base64");
    }
    // The decoder ignores bits behind the last byte, which a line that was damaged may have.
    String again = Base64.getEncoder().withoutPadding().encodeToString(bytes);
    require(text.startsWith(again), "'" + name + "' is not Base64: it has bits behind its bytes");
    return bytes;
  }

  private static byte[] encoded(String text) throws MalformedException {
    try {
      ByteBuffer encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new MalformedException("half of a surrogate pair is no text");
    }
  }

  private static void require(boolean held, String what) throws MalformedException {
    if (!held) {
      throw new MalformedException(what);
    }
  }

  private JsonLines() {}
}
