package io.erda.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.console.UserError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The expected words are those that a POSIX shell makes of the same line. */
class ShellWordsTest {
  private static void assertWords(String line, String... words) {
    assertEquals(List.of(words), ShellWords.of(line), line);
  }

  @Test
  void blanksPartWords() {
    assertWords("");
    assertWords(" \t ");
    assertWords(" put  a\tb \r", "put", "a", "b");
  }

  @Test
  void betweenSingleQuotesEverythingIsAsItIs() {
    assertWords("'C:\\dir\\new' '\"$x\"' ''", "C:\\dir\\new", "\"$x\"", "");
  }

  @Test
  void betweenDoubleQuotesABackslashQuotesFourCharacters() {
    assertWords("\"a\\tb\"", "a\\tb");
    assertWords("\"a\\\"b\\\\c\\$d\\`e'f\"", "a\"b\\c$d`e'f");
    assertWords("\"\"", "");
  }

  @Test
  void elsewhereABackslashQuotesTheNextCharacter() {
    assertWords("a\\ b \\'c \\\\ \\n", "a b", "'c", "\\", "n");
  }

  @Test
  void whatStandsSideBySideIsOneWord() {
    assertWords("a\"b c\"d 'it''s' 'it'\\''s'", "ab cd", "its", "it's");
  }

  @ParameterizedTest
  @ValueSource(strings = {"put a 'b", "put a \"b", "put a \"b\\\"", "put a \\"})
  void whatIsNotFinishedSaysSo(String line) {
    UserError error = assertThrows(UserError.class, () -> ShellWords.of(line));
    assertEquals(2, error.exitCode());
  }
}
