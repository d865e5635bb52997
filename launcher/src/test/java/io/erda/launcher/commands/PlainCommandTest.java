package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** Only what has one meaning is read without picocli. */
class PlainCommandTest {
  private static final String URI = "erda+shm:/data";

  @Test
  void plainLines() {
    assertInstanceOf(GetCommand.class, PlainCommand.of("get", "--uri", URI, "a"));
    assertInstanceOf(GetCommand.class, PlainCommand.of("get", "a", "b", "--uri", URI, "@c"));
    assertInstanceOf(PutCommand.class, PlainCommand.of("put", "--uri", URI, "a", "b"));
  }

  @Test
  void allElseIsPicoclis() {
    assertNull(PlainCommand.of());
    assertNull(PlainCommand.of("delete", "--uri", URI, "a"));
    assertNull(PlainCommand.of("-v", "get", "--uri", URI, "a"));
    assertNull(PlainCommand.of("get", "--uri", URI));
    assertNull(PlainCommand.of("get", "a", "--uri"));
    assertNull(PlainCommand.of("get", "--uri", URI, "--uri", URI, "a"));
    assertNull(PlainCommand.of("get", "--uri", "", "a"));
    assertNull(PlainCommand.of("get", "--uri", "--hex", "00"));
    assertNull(PlainCommand.of("get", "--uri", URI, "a", "-n"));
    assertNull(PlainCommand.of("get", "--uri", URI, "--", "-a"));
    assertNull(PlainCommand.of("get", "--uri", URI, "--help"));
    assertNull(PlainCommand.of("get", "--uri", URI, ""));
    assertNull(PlainCommand.of("put", "--uri", URI, "a"));
    assertNull(PlainCommand.of("put", "--uri", URI, "a", "-"));
    assertNull(PlainCommand.of("put", "--uri", URI, "a", "b", "c"));
  }
}
