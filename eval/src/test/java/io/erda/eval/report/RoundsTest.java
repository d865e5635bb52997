package io.erda.eval.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.console.Numbers;
import io.erda.console.Progress;
import io.erda.console.TextTable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RoundsTest {
  @Test
  void roundsInterleaveAndWarmUpDoesNotCount() {
    List<String> order = new ArrayList<>();
    double[] next = {100};
    Rounds rounds =
        new Rounds()
            .measure("a", () -> note(order, "a", next[0]++))
            .measure("b", () -> note(order, "b", 7))
            .run(1, 3, new Silence());
    assertEquals(List.of("b", "a", "a", "b", "b", "a", "a", "b"), order);
    assertEquals(102, rounds.median("a"));
    assertEquals(101, rounds.min("a"));
    assertEquals(103, rounds.max("a"));
    assertEquals(7, rounds.median("b"));
  }

  @Test
  void medians() {
    assertEquals(2, Rounds.median(new double[] {3, 1, 2}));
    assertEquals(2.5, Rounds.median(new double[] {4, 1, 2, 3}));
  }

  @Test
  void tablesAlign() {
    String table = new TextTable("name", "x").row("a", "10").row("long name", "1").toString();
    assertEquals("name        x\na          10\nlong name   1\n", table);
    assertEquals("999 ns", Numbers.time(999));
    assertEquals("1.5 µs", Numbers.time(1500));
    assertEquals("150 µs", Numbers.time(150_000));
    assertEquals("2.00 s", Numbers.time(2e9));
    assertEquals("1,234,567", Numbers.count(1_234_567));
  }

  /** A time keeps three digits, and changes its unit where it would need a fourth. */
  @Test
  void timesKeepThreeDigits() {
    assertEquals("0 ns", Numbers.time(0));
    assertEquals("1.0 µs", Numbers.time(1_000));
    assertEquals("99.9 µs", Numbers.time(99_900));
    assertEquals("100 µs", Numbers.time(100_000));
    assertEquals("1.0 ms", Numbers.time(1_000_000));
    assertEquals("99.9 ms", Numbers.time(99_900_000));
    assertEquals("100 ms", Numbers.time(100_000_000));
    assertEquals("1.00 s", Numbers.time(1e9));
    assertEquals("0.33", Numbers.decimal(1 / 3.0));
    assertEquals("0", Numbers.count(0.4));
  }

  @Test
  void whatWasMeasuredIsNotChangedByLooking() {
    Rounds rounds = new Rounds().measure("a", () -> 3).run(0, 2, new Silence());
    rounds.values("a")[0] = 7;
    assertEquals(3, rounds.max("a"));
    double[] unsorted = {3, 1, 2};
    Rounds.median(unsorted);
    assertEquals(3, unsorted[0]);
  }

  private static double note(List<String> order, String name, double value) {
    order.add(name);
    return value;
  }

  private static final class Silence implements Progress {
    @Override
    public void step(String what) {}

    @Override
    public void at(String how) {}

    @Override
    public void done(String how) {}
  }
}
