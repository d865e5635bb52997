package io.erda.launcher.backup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keys and values as lines of JSON. */
class JsonLinesTest {
  private static final long SEED = Long.getLong("erda.seed", 20261123L);

  private static JsonLines.Entry entry(String line) throws JsonLines.MalformedException {
    byte[] bytes = line.getBytes(UTF_8);
    return JsonLines.entry(bytes, bytes.length);
  }

  @Test
  void textStaysText() {
    assertEquals(
        "{\"key\":\"a\\\"b\",\"value\":\"schl\u00fcssel\\n\"}\n",
        new String(
            JsonLines.line("a\"b".getBytes(UTF_8), "schl\u00fcssel\n".getBytes(UTF_8)), UTF_8));
    assertEquals(
        "{\"key64\":\"/w==\",\"value\":\"\"}\n",
        new String(JsonLines.line(new byte[] {(byte) 0xff}, new byte[0]), UTF_8));
  }

  @Test
  void anyBytesComeBack() throws JsonLines.MalformedException {
    Random random = new Random(SEED);
    for (int i = 0; i < 5_000; i++) {
      byte[] key = new byte[1 + random.nextInt(4)];
      byte[] value = new byte[random.nextInt(5)];
      random.nextBytes(key);
      random.nextBytes(value);
      byte[] line = JsonLines.line(key, value);
      JsonLines.Entry entry = JsonLines.entry(line, line.length);
      assertArrayEquals(key, entry.key(), "seed " + SEED + ", " + i);
      assertArrayEquals(value, entry.value(), "seed " + SEED + ", " + i);
      assertEquals('\n', line[line.length - 1]);
      assertEquals(1, new String(line, UTF_8).lines().count(), "seed " + SEED + ", " + i);
    }
  }

  @Test
  void orderAndSpaceMeanNothing() throws JsonLines.MalformedException {
    JsonLines.Entry entry = entry("  { \"value64\" : \"AA==\", \"key\":\"\\u0000k\" } ");
    assertArrayEquals(new byte[] {0, 'k'}, entry.key());
    assertArrayEquals(new byte[] {0}, entry.value());
  }

  @Test
  void whatIsNoneIsSaid() {
    String[][] wrong = {
      {"[]", "an object is wanted"},
      {"{}", "no key"},
      {"{\"key\":\"k\"}", "no value"},
      {"{\"value\":\"v\"}", "no key"},
      {"{\"key\":\"\",\"value\":\"v\"}", "no key"},
      {"{\"key\":1,\"value\":\"v\"}", "'key' is no string"},
      {"{\"key\":\"k\",\"key64\":\"aw==\",\"value\":\"v\"}", "two keys"},
      {"{\"key\":\"k\",\"value\":\"v\",\"ttl\":\"1\"}", "'ttl' is not known"},
      {"{\"key\":\"k\",\"value\":\"v\",\"extra\":1}", "'extra' is not known"},
      {"{\"extra\":{\"key\":\"k\"}}", "'extra' is not known"},
      {"{\"extra64\":\"?\"}", "'extra64' is not known"},
      {"{\"key64\":\"?\",\"value\":\"v\"}", "not Base64"},
      {"{\"key\":\"k\",\"value64\":\"YR==\"}", "bits behind its bytes"},
      {"{\"key\":\"\\ud800\",\"value\":\"v\"}", "surrogate"},
      {"{\"key\":\"k\",\"value\":\"v\"} x", "no JSON at character 25"},
      {"x", "no JSON at character 1"},
      {"{\"key\":\"a\tb\",\"value\":\"v\"}", "no JSON at character 10"},
      {"{\"key\":\"\\q\",\"value\":\"v\"}", "no JSON at character 10"},
      {"{\"key\":\"k\",\"value\":\"v\"}{}", "something follows"},
      {"{\"key\":\"k\",\"value\":" + "9".repeat(1_001) + "}", "'value' is no string"},
      {"{\"" + "k".repeat(60_000) + "\":\"v\"}", "'kkkkkkkkkkkkkkkk…' is not known"},
    };
    for (String[] each : wrong) {
      String said =
          assertThrows(JsonLines.MalformedException.class, () -> entry(each[0]), each[0])
              .getMessage();
      assertTrue(said.contains(each[1]) && !said.contains("\n"), each[0] + ": " + said);
      assertTrue(said.length() < 100, said);
    }
  }

  /** As a file of lines ends whose writer was killed, or whose disk was full. */
  @Test
  void aLineThatIsCutAnywhereSaysSoInWordsOfOurs() {
    String whole = "{\"key\":\"schl\u00fc\\nssel\",\"value64\":\"AA==\"}";
    for (int i = 1; i < whole.length(); i++) {
      String cut = whole.substring(0, i);
      String said =
          assertThrows(JsonLines.MalformedException.class, () -> entry(cut), cut).getMessage();
      assertEquals("it ends before its object does: was it cut?", said, cut);
    }
  }

  @Test
  void theLongestValueComesBack() throws JsonLines.MalformedException {
    byte[] value = new byte[16_000_000];
    value[7] = (byte) 0xff;
    byte[] line = JsonLines.line(new byte[] {'k'}, value);
    assertArrayEquals(value, JsonLines.entry(line, line.length).value());
  }

  /** Found by reading: four bytes that look like UTF-32 ended the command with an error of ours. */
  @Test
  void noOtherEncodingIsGuessed() {
    byte[][] lines = {
      {0, 0, 0, '{', -1, -1, -1, -1}, {0, 0, 0, '{', 0, 0, 0}, {-1, -2, 0, 0, '{', 0}, {'{', -1}
    };
    for (byte[] line : lines) {
      assertThrows(JsonLines.MalformedException.class, () -> JsonLines.entry(line, line.length));
    }
  }
}
