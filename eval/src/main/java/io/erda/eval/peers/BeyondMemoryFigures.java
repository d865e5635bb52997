package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What operations cost in stores of several sizes, memory being the same. */
final class BeyondMemoryFigures {
  private final double devicePageNs;
  private final String readAhead;
  private final long memoryBytes;
  private final int valueBytes;
  private final Map<PeerSystem, List<Point>> points = new EnumMap<>(PeerSystem.class);
  private final Map<String, String> failures = new LinkedHashMap<>();

  /**
   * An operation.
   *
   * @param ns that it takes
   * @param pages of files that were evicted and are read again for it
   */
  record Cost(double ns, double pages) {}

  /**
   * A store.
   *
   * @param times its values' bytes, as a multiple of memory
   * @param loadNs what a put took when it was loaded
   */
  record Point(double times, double loadNs, Cost get, Cost put) {}

  /**
   * @param devicePageNs what the device takes for a page
   * @param readAhead how far the kernel reads ahead there, in words; empty where that is not known
   */
  BeyondMemoryFigures(double devicePageNs, String readAhead, long memoryBytes, int valueBytes) {
    this.devicePageNs = devicePageNs;
    this.readAhead = readAhead;
    this.memoryBytes = memoryBytes;
    this.valueBytes = valueBytes;
  }

  void add(PeerSystem system, Point point) {
    points.computeIfAbsent(system, any -> new ArrayList<>()).add(point);
  }

  /** A store did not get through. */
  void addFailure(PeerSystem system, double times, String why) {
    failures.put(system.title() + ", " + times + " times memory", why);
  }

  double devicePageNs() {
    return devicePageNs;
  }

  String readAhead() {
    return readAhead;
  }

  long memoryBytes() {
    return memoryBytes;
  }

  int valueBytes() {
    return valueBytes;
  }

  /** In the order in which they were measured: the larger ones later. */
  List<Point> points(PeerSystem system) {
    return points.getOrDefault(system, List.of());
  }

  Optional<Point> point(PeerSystem system, double times) {
    return points(system).stream().filter(point -> point.times() == times).findFirst();
  }

  /** Why stores did not get through, by what they are called. */
  Map<String, String> failures() {
    return failures;
  }
}
