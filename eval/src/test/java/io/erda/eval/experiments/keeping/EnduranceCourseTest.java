package io.erda.eval.experiments.keeping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EnduranceCourseTest {
  private static final int CYCLES = 12;

  @Test
  void whatStaysIsNotMissed() {
    assertEquals(List.of(), missedWith(0, 0));
  }

  /** What grows before the store has settled is no leak. */
  @Test
  void whatGrowsAtFirstIsNotMissed() {
    EnduranceCourse course = new EnduranceCourse();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
      course.add(sample(cycle, cycle < 2 ? 20_000_000 : 100_000_000, 40));
    }
    assertEquals(List.of(), missed(course, true));
  }

  @Test
  void memoryAndDescriptorsThatGrowAreMissed() {
    List<String> missed = missedWith(10_000_000, 0);
    assertEquals(1, missed.size(), missed.toString());
    assertTrue(missed.getFirst().startsWith("memory of the server, MB: "), missed.getFirst());
    missed = missedWith(0, 1);
    assertEquals(1, missed.size(), missed.toString());
    assertTrue(missed.getFirst().startsWith("descriptors of the server: "), missed.getFirst());
  }

  @Test
  void aQuickRunIsNotJudged() {
    EnduranceCourse course = new EnduranceCourse();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
      course.add(sample(cycle, 100_000_000L * (cycle + 1), 40));
    }
    assertEquals(List.of(), missed(course, false));
  }

  private static List<String> missedWith(long bytesACycle, long descriptorsACycle) {
    EnduranceCourse course = new EnduranceCourse();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
      course.add(sample(cycle, 100_000_000 + bytesACycle * cycle, 40 + descriptorsACycle * cycle));
    }
    return missed(course, true);
  }

  private static List<String> missed(EnduranceCourse course, boolean judged) {
    List<String> missed = new ArrayList<>();
    course.report(judged, new ArrayList<>(), new ObjectMapper().createObjectNode(), missed);
    return missed;
  }

  private static EnduranceCourse.Sample sample(int cycle, long serverBytes, long descriptors) {
    return new EnduranceCourse.Sample(
        cycle * 300.0,
        new ProcessFigures(serverBytes, descriptors, 250, 18),
        new ProcessFigures(60_000_000, 45, 220, 15),
        400_000_000,
        7,
        new long[] {1_000, 7_000},
        new long[] {20_000, 60_000});
  }
}
