package io.erda.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.fuzz.Fuzz;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** Bytes that are accepted as a record encode to the same record again; all others are damaged. */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class RecordFormatFuzzTest {
  private static byte[] record(int fields, int bytes) {
    Map<String, ByteIterator> values = new LinkedHashMap<>();
    for (int i = 0; i < fields; i++) {
      values.put("field" + i, new ByteArrayByteIterator(new byte[bytes]));
    }
    RecordFormat format = new RecordFormat();
    format.encode(values);
    return Arrays.copyOf(format.bytes(), format.length());
  }

  @Test
  void records() {
    Fuzz.run(
        RecordFormatFuzzTest.class,
        List.of(record(2, 3), record(10, 100), record(0, 0), record(1, 300)),
        (input, random) -> {
          RecordFormat format = new RecordFormat();
          Map<String, String> first;
          try {
            first = decode(format, input, input.length);
          } catch (RecordFormat.DamagedRecordException e) {
            // Then a merge throws the same exception.
            try {
              format.merge(input, input.length, Map.of());
              throw new AssertionError("merged what can't be decoded");
            } catch (RecordFormat.DamagedRecordException expected) {
              return;
            }
          }
          byte[] more = new byte[random.nextInt(20)];
          format.merge(input, input.length, Map.of("new", new ByteArrayByteIterator(more)));
          byte[] merged = Arrays.copyOf(format.bytes(), format.length());
          first.put("new", new String(more, UTF_8));
          assertEquals(first, decode(new RecordFormat(), merged, merged.length));
        });
  }

  private static Map<String, String> decode(RecordFormat format, byte[] input, int length) {
    Map<String, ByteIterator> fields = new LinkedHashMap<>();
    format.decode(input, length, null, fields);
    Map<String, String> texts = new LinkedHashMap<>();
    fields.forEach((name, value) -> texts.put(name, new String(value.toArray(), UTF_8)));
    return texts;
  }
}
