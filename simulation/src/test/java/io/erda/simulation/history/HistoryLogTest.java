package io.erda.simulation.history;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HistoryLogTest {
  @TempDir Path directory;
  private long now;

  private long clock() {
    return now += 1000;
  }

  @Test
  void theExampleOfTheFormatIsWhatIsWritten() throws IOException {
    String format = Files.readString(Path.of("FORMAT.md"));
    int begin = format.indexOf("```hex\n") + 7;
    byte[] expected =
        HexFormat.of()
            .parseHex(format.substring(begin, format.indexOf("```", begin)).replaceAll("\\s", ""));
    Path file = directory.resolve("a");
    try (HistoryLog log = HistoryLog.create(file, 7, this::clock)) {
      log.ok(log.invoke(OperationKind.PUT, 5, 0x1122), 0);
    }
    byte[] written = Files.readAllBytes(file);
    String hex = HexFormat.of().formatHex(written, 0, expected.length);
    assertArrayEquals(expected, Arrays.copyOf(written, expected.length), hex);
    assertEquals(0, written[expected.length]);
  }

  @Test
  void anotherThreadMayWriteTheEnd() throws Exception {
    Path file = directory.resolve("a");
    try (HistoryLog log = HistoryLog.create(file, 1, this::clock)) {
      int put = log.invoke(OperationKind.PUT, 5, 11);
      CompletableFuture.runAsync(
              () -> {
                try {
                  log.ok(put, 0);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              })
          .get();
    }
    assertEquals(1, HistoryLog.merge(List.of(file)).count(Ending.OK));
  }

  @Test
  void mergesAndLeavesTheTornEndUnknown() throws IOException {
    Path first = directory.resolve("a");
    Path second = directory.resolve("b");
    try (HistoryLog a = HistoryLog.create(first, 1, this::clock);
        HistoryLog b = HistoryLog.create(second, 2, this::clock)) {
      int put = a.invoke(OperationKind.PUT, 5, 11);
      int get = b.invoke(OperationKind.GET, 5, 0);
      a.ok(put, 0);
      b.ok(get, 11);
      b.mark(3);
      int delete = b.invoke(OperationKind.DELETE, 5, 0);
      a.failed(a.invoke(OperationKind.PUT, 5, 12));
      b.ok(delete, 1);
      a.invoke(OperationKind.PUT, 5, 13);
    }
    History history = HistoryLog.merge(List.of(first, second));
    assertEquals(5, history.size());
    assertEquals(3, history.count(Ending.OK));
    assertEquals(1, history.count(Ending.FAILED));
    assertEquals(1, history.count(Ending.UNKNOWN));
    assertEquals(1, history.marks().size());
    assertInstanceOf(Verdict.Linearizable.class, new LinearizabilityChecker().check(history));

    // However much of the last record's bytes are there, the operation before is whole and this one
    // at most unknown.
    byte[] whole = Files.readAllBytes(second);
    for (int cut = 4 * HistoryLog.RECORD_BYTES; cut < 5 * HistoryLog.RECORD_BYTES; cut++) {
      byte[] torn = whole.clone();
      Arrays.fill(torn, cut, torn.length, (byte) 0);
      Files.write(second, torn);
      History cutShort = HistoryLog.merge(List.of(first, second));
      int zerosAtTheEnd = 7;
      assertEquals(
          cut < 5 * HistoryLog.RECORD_BYTES - zerosAtTheEnd ? 2 : 3,
          cutShort.count(Ending.OK),
          "cut at " + cut);
    }
    assertThrows(FileAlreadyExistsException.class, () -> HistoryLog.create(first, 3, this::clock));
  }

  @Test
  void conditionsAndHowTheyEndedAreRead() throws IOException {
    Path file = directory.resolve("a");
    try (HistoryLog log = HistoryLog.create(file, 1, this::clock)) {
      log.ok(log.invokeIf(OperationKind.PUT_IF, 5, 11, History.ABSENT), 1);
      log.ok(log.invokeIf(OperationKind.PUT_IF, 5, 12, History.ABSENT), 0);
      log.ok(log.invokeIf(OperationKind.PUT_IF, 5, 13, 11), 1);
      log.ok(log.invokeIf(OperationKind.DELETE_IF, 5, 0, 11), 0);
      log.ok(log.invoke(OperationKind.GET, 5, 0), 13);
      log.ok(log.invokeIf(OperationKind.DELETE_IF, 5, 0, 13), 1);
      log.failed(log.invokeIf(OperationKind.PUT_IF, 5, 14, History.ABSENT));
      log.ok(log.invoke(OperationKind.GET, 5, 0), History.ABSENT);
    }
    History history = HistoryLog.merge(List.of(file));
    assertInstanceOf(Verdict.Linearizable.class, new LinearizabilityChecker().check(history));
    assertEquals(13, history.expected(5));
    assertEquals(List.of(1, 3), IntStream.range(0, 8).filter(history::missed).boxed().toList());

    Path wrong = directory.resolve("b");
    try (HistoryLog log = HistoryLog.create(wrong, 1, this::clock)) {
      log.ok(log.invoke(OperationKind.PUT, 5, 11), 0);
      log.ok(log.invoke(OperationKind.PUT, 5, 12), 0);
      log.ok(log.invokeIf(OperationKind.PUT_IF, 5, 13, 11), 1);
    }
    assertInstanceOf(
        Verdict.Violation.class,
        new LinearizabilityChecker().check(HistoryLog.merge(List.of(wrong))));
  }

  @Test
  void whatEndedUnknownTakesNoEffectLater() throws IOException {
    for (boolean ended : List.of(true, false)) {
      Path file = directory.resolve("ended-" + ended);
      try (HistoryLog log = HistoryLog.create(file, 1, this::clock)) {
        int put = log.invoke(OperationKind.PUT, 5, 11);
        if (ended) {
          log.unknown(put);
        }
        log.ok(log.invoke(OperationKind.GET, 5, 0), History.ABSENT);
        log.ok(log.invoke(OperationKind.GET, 5, 0), 11);
      }
      Verdict verdict = new LinearizabilityChecker().check(HistoryLog.merge(List.of(file)));
      assertEquals(ended, verdict instanceof Verdict.Violation, verdict.toString());
    }
  }

  @Test
  void growsByChunks() throws IOException {
    Path file = directory.resolve("a");
    int operations = 40_000;
    try (HistoryLog log = HistoryLog.create(file, 1, this::clock)) {
      for (int i = 1; i <= operations; i++) {
        log.ok(log.invoke(OperationKind.PUT, i % 100, i), 0);
      }
    }
    History history = HistoryLog.merge(List.of(file));
    assertEquals(operations, history.count(Ending.OK));
    assertEquals(
        new Verdict.Linearizable(operations, 100), new LinearizabilityChecker().check(history));
  }
}
