package io.erda.eval.experiments.keeping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.report.Report;
import java.util.List;
import org.junit.jupiter.api.Test;

class EnduranceCourseTest {
  private static final int CYCLES = 12;

  @Test
  void whatStaysIsNotMissed() {
    assertEquals(List.of(), missedWith(0, 0));
  }

  /** Growth before the store has settled is no leak. */
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

  /** A put that wakes its server is as slow as the machine, which is not the store's. */
  @Test
  void putsMayBeSlowerByWhatTheMachineIsSlowerAndNoMore() {
    assertEquals(List.of(), missedWithPuts(20, 40, 15, 30));
    assertEquals(List.of("put, p50, us", "put, p99, us"), missedWithPuts(20, 40, 15, 15));
    assertEquals(List.of("put, p50, us", "put, p99, us"), missedWithPuts(20, 64, 15, 30));
    assertEquals(
        List.of(), missedWithPuts(20, 20, 30, 15), "of a quicker machine no more is asked");
  }

  private static List<String> missedWithPuts(
      double putUs, double putUsAtEnd, double wakeUs, double wakeUsAtEnd) {
    EnduranceCourse course = new EnduranceCourse();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
      boolean late = cycle >= CYCLES / 2;
      course.add(
          sample(cycle, 100_000_000, 40, late ? putUsAtEnd : putUs, late ? wakeUsAtEnd : wakeUs));
    }
    return missed(course, true).stream().map(line -> line.substring(0, line.indexOf(':'))).toList();
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
    Report report = new Report(!judged);
    course.tell(report);
    return report.missed();
  }

  private static EnduranceCourse.Sample sample(int cycle, long serverBytes, long descriptors) {
    return sample(cycle, serverBytes, descriptors, 20, 15);
  }

  private static EnduranceCourse.Sample sample(
      int cycle, long serverBytes, long descriptors, double putUs, double wakeUs) {
    return new EnduranceCourse.Sample(
        cycle * 300.0,
        new ProcessFigures(serverBytes, descriptors, 250, 18),
        new ProcessFigures(60_000_000, 45, 220, 15),
        400_000_000,
        7,
        new EnduranceCourse.Latency(1, 7),
        new EnduranceCourse.Latency(putUs, 3 * putUs),
        new EnduranceCourse.Latency(wakeUs, 3 * wakeUs));
  }
}
