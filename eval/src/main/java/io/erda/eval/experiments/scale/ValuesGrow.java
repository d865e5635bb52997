package io.erda.eval.experiments.scale;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import java.util.Locale;

/** From 16 bytes to 64 KiB, with the same number of objects of each size. */
final class ValuesGrow implements Growth {
  private static final int[] SIZES = {16, 64, 256, 1024, 4096, 16_384, 65_536};
  private static final int LARGEST = SIZES[SIZES.length - 1];
  private static final int PLAIN = 1024;

  @Override
  public Found measure(Context context) {
    int objects = context.quick() ? 2_000 : 20_000;
    Curve curve =
        new Curve(
            String.format(Locale.ROOT, "An operation as values grow, %,d objects", objects),
            "bytes of a value",
            Curve.FLOOR,
            Curve.GET,
            Curve.MISS,
            Curve.PUT);
    for (int bytes : SIZES) {
      Dataset dataset = new Dataset(objects, bytes);
      try (ServedStore store = Costs.storeOf(context, dataset)) {
        store.load(dataset);
        Costs costs = Costs.of(context, store, dataset);
        curve.add(bytes, costs.floorNs(), costs.getNs(), costs.missNs(), costs.putNs());
      }
    }
    return new Found(
        curve,
        String.format(
            Locale.ROOT,
            "From 1 to 64 KiB each further KiB takes %.0f ns of a get, %.0f ns of the floor, which"
                + " copies it once and computes its checksum, and %.0f ns of a put.",
            perKib(curve, Curve.GET),
            perKib(curve, Curve.FLOOR),
            perKib(curve, Curve.PUT)));
  }

  private static double perKib(Curve curve, String thing) {
    return (curve.ns(thing, LARGEST) - curve.ns(thing, PLAIN)) / ((LARGEST - PLAIN) / 1024.0);
  }
}
