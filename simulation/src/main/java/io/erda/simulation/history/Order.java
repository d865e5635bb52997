package io.erda.simulation.history;

/**
 * Sorts indexes by times: stable, and fast when they are in order already, as recorded ones are.
 */
final class Order {
  private Order() {}

  static int[] by(long[] times, int count) {
    int[] order = new int[count];
    boolean inOrder = true;
    for (int i = 0; i < count; i++) {
      order[i] = i;
      inOrder &= i == 0 || times[i - 1] <= times[i];
    }
    return inOrder ? order : merge(order, times);
  }

  private static int[] merge(int[] order, long[] times) {
    int[] from = order;
    int[] to = new int[order.length];
    for (int width = 1; width < order.length; width *= 2) {
      for (int low = 0; low < order.length; low += 2 * width) {
        int middle = Math.min(low + width, order.length);
        int high = Math.min(low + 2 * width, order.length);
        int left = low;
        int right = middle;
        for (int at = low; at < high; at++) {
          boolean takeLeft =
              left < middle && (right >= high || times[from[left]] <= times[from[right]]);
          to[at] = takeLeft ? from[left++] : from[right++];
        }
      }
      int[] spare = from;
      from = to;
      to = spare;
    }
    return from;
  }
}
