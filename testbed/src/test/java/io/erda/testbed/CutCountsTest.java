package io.erda.testbed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

final class CutCountsTest {
  @Test
  void theLastThreeRunsMakeAPattern() {
    assertEquals("none", CutCounts.pattern("server"));
    assertEquals("none verify power", CutCounts.pattern("embedded killed verify server+power"));
    assertEquals(
        "power cut none verify power",
        CutCounts.pattern("server embedded+power killed cut server verify embedded+power"));
  }

  @Test
  void oneProblemIsAFailure() {
    CutCounts tally = new CutCounts();
    tally.add(cut(List.of()));
    assertEquals(0, tally.failed());
    tally.add(cut(List.of("key-100003 is absent, acknowledged was version 7")));
    assertEquals(1, tally.failed());
    tally.addTrouble();
    assertEquals(2, tally.failed());
  }

  private static Cut cut(List<String> problems) {
    return new Cut(Disk.Kind.EXT4, "server", Cut.Phase.LOAD, true, problems, 0, Cut.Opening.QUIET);
  }
}
