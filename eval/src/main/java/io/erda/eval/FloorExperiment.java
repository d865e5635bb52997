package io.erda.eval;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.eval.process.ProcessException;
import io.erda.eval.process.ServerChild;
import io.erda.logstore.ObjectLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How near a blocking get is to the least that a get can be. */
final class FloorExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int SEQUENCE = 1 << 19;
  private static final double RATIO_MAX = 1.3;

  @Override
  public String name() {
    return "floor";
  }

  @Override
  public String what() {
    return "a blocking get against the least it can be (neighbourhood, copy, CRC32C on the same"
        + " files); at most 1.3 times";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Table table =
        new Table("objects", "floor", "get", "get / floor", "floor min…max", "get min…max");
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
          Table.time(rounds.min("get")) + "…" + Table.time(rounds.max("get")));
      runs.addObject()
          .put("objects", objects)
          .put("floorNs", floor)
          .put("getNs", get)
          .put("ratio", get / floor);
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
    return new Report(table.toString(), json, missed);
  }

  private Rounds runWith(int objects, Context context) {
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    int length = context.quick() ? SEQUENCE / 16 : SEQUENCE;
    MemorySegment[] keys = Dataset.keys(dataset.sequence(length, objects));
    Path data = context.children().temporaryDirectory(context.temporaryDirectory(), "erda-floor-");
    ServerChild server =
        ServerChild.start(
            context.children(),
            context.jvm(),
            data,
            StoreSize.flags(objects, objects, VALUE_BYTES + Dataset.KEY_BYTES));
    try (ErdaClient client = ErdaClient.connect(server.uri())) {
      dataset.load(client, context.progress());
    }
    server.stop();
    FloorReader.Layout layout = layout(data, keys);
    server = ServerChild.start(context.children(), context.jvm(), data, List.of());
    context.progress().step("get against floor, " + Table.count(objects) + " objects");
    int objectBytes = ObjectLayout.bytes(Dataset.KEY_BYTES, VALUE_BYTES);
    try (ErdaClient client = ErdaClient.connect(server.uri());
        FloorReader floor = FloorReader.open(layout, objectBytes)) {
      MemorySegment into = Arena.ofAuto().allocate(VALUE_BYTES, 8);
      Rounds rounds =
          new Rounds()
              .measure("floor", () -> floorNs(floor, layout.keyWords(), objectBytes))
              .measure("get", () -> getNs(client, keys, into))
              .run(context.quick() ? 4 : 6, context.quick() ? 3 : 15, context.progress());
      context.progress().done("");
      server.stop();
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

  private static double floorNs(FloorReader floor, long[] keyWords, int objectBytes) {
    long startNs = System.nanoTime();
    for (long keyWord : keyWords) {
      if (floor.read(keyWord) != objectBytes) {
        throw new ProcessException(
            "the floor did not find the object of key word " + Long.toHexString(keyWord));
      }
    }
    return (System.nanoTime() - startNs) / (double) keyWords.length;
  }

  private static double getNs(ErdaClient client, MemorySegment[] keys, MemorySegment into) {
    long startNs = System.nanoTime();
    for (MemorySegment key : keys) {
      if (client.get(key, into) != VALUE_BYTES) {
        throw new ProcessException("a get did not find its object");
      }
    }
    return (System.nanoTime() - startNs) / (double) keys.length;
  }
}
