package io.erda.eval.experiments;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.logstore.ObjectLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How near a blocking get is to the least that a get can be.
 *
 * <p>Each key depends on the value before, as for a caller that needs one value to know what to ask
 * for next: so what is measured is how long a get takes. Where the keys are known before, the
 * processor begins the next get while it waits for this one, as far as it looks ahead, which is
 * less for the longer of two loops; that is shown beside it.
 */
final class FloorExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int SEQUENCE = 1 << 19;
  private static final double RATIO_MAX = 1.3;
  private static final String FLOOR_AHEAD = "floor, keys known";
  private static final String GET_AHEAD = "get, keys known";

  @Override
  public String name() {
    return "floor";
  }

  @Override
  public String what() {
    return "a blocking get against the least it can be (neighbourhood, copy, CRC32C on the same"
        + " files); each key depends on the value before; at most 1.3 times";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Table table =
        new Table(
            "objects",
            "floor",
            "get",
            "get / floor",
            "floor min…max",
            "get min…max",
            "keys known: floor",
            "get");
    ObjectNode json = new ObjectMapper().createObjectNode();
    ArrayNode runs =
        json.put("valueBytes", VALUE_BYTES).put("ratioMax", RATIO_MAX).putArray("runs");
    List<String> missed = new ArrayList<>();
    for (int objects : context.quick() ? new int[] {20_000} : new int[] {100_000, 1_000_000}) {
      Rounds rounds = runWith(objects, context);
      double floor = rounds.median("floor");
      double get = rounds.median("get");
      table.row(
          Table.count(objects),
          Table.time(floor),
          Table.time(get),
          Table.decimal(get / floor),
          Table.time(rounds.min("floor")) + "…" + Table.time(rounds.max("floor")),
          Table.time(rounds.min("get")) + "…" + Table.time(rounds.max("get")),
          Table.time(rounds.median(FLOOR_AHEAD)),
          Table.time(rounds.median(GET_AHEAD)));
      runs.addObject()
          .put("objects", objects)
          .put("floorNs", floor)
          .put("getNs", get)
          .put("ratio", get / floor)
          .put("keysKnownFloorNs", rounds.median(FLOOR_AHEAD))
          .put("keysKnownGetNs", rounds.median(GET_AHEAD));
      if (get / floor > RATIO_MAX) {
        missed.add(
            String.format(
                Locale.ROOT,
                "at %d objects a get takes %.2f times the floor, expected at most %.1f",
                objects,
                get / floor,
                RATIO_MAX));
      }
    }
    return new Report(table, json, missed);
  }

  private Rounds runWith(int objects, Context context) {
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    int length = context.quick() ? SEQUENCE / 16 : SEQUENCE;
    MemorySegment[] keys = Dataset.keys(dataset.sequence(length, objects));
    List<String> creation = StoreSize.flags(objects, objects, VALUE_BYTES + Dataset.KEY_BYTES);
    try (ServedStore store = ServedStore.create(context, name(), creation)) {
      store.load(dataset);
      store.server().stop();
      FloorReader.Layout layout = layout(store.data(), keys);
      store.startAgain();
      context.progress().step("get against floor, " + Table.count(objects) + " objects");
      return sideBySide(store, layout, keys, context);
    }
  }

  private static Rounds sideBySide(
      ServedStore store, FloorReader.Layout layout, MemorySegment[] keys, Context context) {
    int objectBytes = ObjectLayout.bytes(Dataset.KEY_BYTES, VALUE_BYTES);
    try (ErdaClient client = store.connect();
        FloorReader floor = FloorReader.open(layout, objectBytes)) {
      long[] keyWords = layout.keyWords();
      Gets gets = new Gets(client, keys);
      Rounds rounds =
          new Rounds()
              .measure("floor", () -> floorNs(floor, keyWords, objectBytes, true))
              .measure("get", () -> gets.ns(true))
              .measure(FLOOR_AHEAD, () -> floorNs(floor, keyWords, objectBytes, false))
              .measure(GET_AHEAD, () -> gets.ns(false))
              .run(context.quick() ? 4 : 6, context.quick() ? 3 : 15, context.progress());
      context.progress().done("");
      return rounds;
    } catch (IOException e) {
      throw new ProcessException("can't map the store's files: " + e.getMessage(), e);
    }
  }

  private static FloorReader.Layout layout(Path data, MemorySegment[] keys) {
    try {
      return FloorReader.Layout.of(data, keys);
    } catch (IOException e) {
      throw new ProcessException("can't look into the store: " + e.getMessage(), e);
    }
  }

  /** Zero, which the compiler does not know. */
  private static long unknownZero() {
    return Long.parseLong("0");
  }

  /**
   * @param depends whether each key word is made with the value before
   */
  private static double floorNs(
      FloorReader floor, long[] keyWords, int objectBytes, boolean depends) {
    long nothing = unknownZero();
    long before = 0;
    long startNs = System.nanoTime();
    for (long keyWord : keyWords) {
      if (floor.read(keyWord ^ (before & nothing)) != objectBytes) {
        throw new ProcessException(
            "the floor did not find the object of key word " + Long.toHexString(keyWord));
      }
      if (depends) {
        before = floor.lastWord();
      }
    }
    return (System.nanoTime() - startNs) / (double) keyWords.length;
  }

  /** Gets of a caller that has one key, and stores the next into it. */
  private static final class Gets {
    private final ErdaClient client;
    private final long[] words;
    private final MemorySegment key = Arena.ofAuto().allocate(Dataset.KEY_BYTES, 8);
    private final MemorySegment into = Arena.ofAuto().allocate(VALUE_BYTES, 8);

    Gets(ErdaClient client, MemorySegment[] keys) {
      this.client = client;
      this.words = new long[2 * keys.length];
      for (int i = 0; i < keys.length; i++) {
        words[2 * i] = keys[i].get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        words[2 * i + 1] = keys[i].get(ValueLayout.JAVA_LONG_UNALIGNED, Long.BYTES);
      }
    }

    double ns(boolean depends) {
      long nothing = unknownZero();
      long before = 0;
      long startNs = System.nanoTime();
      for (int i = 0; i < words.length; i += 2) {
        key.set(ValueLayout.JAVA_LONG, 0, words[i] ^ (before & nothing));
        key.set(ValueLayout.JAVA_LONG, Long.BYTES, words[i + 1]);
        if (client.get(key, into) != VALUE_BYTES) {
          throw new ProcessException("a get did not find its object");
        }
        if (depends) {
          before = into.get(ValueLayout.JAVA_LONG, VALUE_BYTES - Long.BYTES);
        }
      }
      return (System.nanoTime() - startNs) / (words.length / 2.0);
    }
  }
}
