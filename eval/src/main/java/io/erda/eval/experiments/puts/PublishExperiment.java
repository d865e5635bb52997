package io.erda.eval.experiments.puts;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.ServedStore;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSetup;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What one core of the server's can publish: clients in processes of their own, each with as many
 * puts under way as a pipeline holds, and the processor time that the server's thread takes for a
 * put. With more of them than cores the server finds full batches whenever it runs.
 */
public final class PublishExperiment implements Experiment {
  private static final int[] CLIENTS = {1, 2, 4};
  private static final double NS_MAX = 700;
  private static final int SIZE_JUDGED = 64;

  /** So many windows before those that count: the log is cleaned from then on. */
  private static final int WARM_UP = 3;

  @Override
  public String name() {
    return "publish";
  }

  @Override
  public String what() {
    return "the server's processor time of a put, polling left out, with 1 to 4 clients that keep"
        + " their pipelines full; with values of 64 bytes at most 0.7 µs";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Table table =
        new Table(
            "value",
            "clients",
            "puts/s",
            "server CPU",
            "at work",
            "a put",
            "instructions",
            "cache misses");
    ObjectNode json = new ObjectMapper().createObjectNode();
    List<String> missed = new ArrayList<>();
    Optional<String> uncounted = Optional.empty();
    for (int size : new int[] {SIZE_JUDGED, 1024}) {
      int objects = (context.quick() ? 100_000 : 1_000_000) * SIZE_JUDGED / size;
      try (ServedStore store = ServedStore.create(context, name(), List.of("--timed"));
          ErdaClient control = store.connect()) {
        List<PeerProcess> clients = start(context, store, objects, size);
        try {
          clients.getFirst().load();
          for (int count : CLIENTS) {
            PublishedPuts puts = measure(context, store, control, clients.subList(0, count), size);
            uncounted = puts.uncounted();
            report(size, count, puts, table, json, missed);
          }
        } finally {
          clients.forEach(PeerProcess::close);
        }
      }
    }
    return new Report(
        List.of(
            new Words(
                "“server CPU” is what the scheduler gave the server's thread, polling in it; “at"
                    + " work” the time by the clock of those steps that had something to do, the"
                    + " time in it in which other threads had the core. What a put costs without"
                    + " either is less than both: “a put” is the smaller, the median of all"
                    + " rounds. Cleaning is in all of them."
                    + uncounted
                        .map(why -> " Nothing was counted by the processor: " + why + ".")
                        .orElse("")),
            table),
        json,
        missed);
  }

  private static List<PeerProcess> start(
      Context context, ServedStore store, int objects, int valueBytes) {
    List<PeerProcess> clients = new ArrayList<>();
    try {
      for (int i = 0; i < CLIENTS[CLIENTS.length - 1]; i++) {
        PeerSetup setup =
            new PeerSetup(
                context.children(),
                context.jvm(),
                PeerLibraries.installed(),
                PeerSystem.ERDA_SHM,
                store.data(),
                objects,
                valueBytes,
                true);
        clients.add(PeerProcess.join(setup, store.server().uri()));
      }
    } catch (RuntimeException e) {
      clients.forEach(PeerProcess::close);
      throw e;
    }
    return clients;
  }

  private static PublishedPuts measure(
      Context context,
      ServedStore store,
      ErdaClient control,
      List<PeerProcess> clients,
      int valueBytes)
      throws InterruptedException {
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 2 : 7;
    Duration window = Duration.ofMillis(context.quick() ? 300 : 2_000);
    context.progress().step("values of " + valueBytes + " bytes, " + clients.size() + " pipelines");
    PublishedPuts puts = new PublishedPuts(store.server(), control, clients, rounds);
    for (int round = -WARM_UP; round < rounds; round++) {
      context.progress().at(round < 0 ? "warm-up" : "round " + (round + 1) + " of " + rounds);
      puts.measure(window, round);
    }
    context.progress().done("");
    return puts;
  }

  private static void report(
      int valueBytes,
      int clients,
      PublishedPuts puts,
      Table table,
      ObjectNode json,
      List<String> missed) {
    table.row(
        valueBytes + " B",
        clients,
        Table.count(puts.perSecond()),
        Table.time(puts.cpuNs()),
        Table.time(puts.workNs()),
        Table.time(puts.ns()),
        puts.counted(PublishedPuts.INSTRUCTIONS).map(Table::count).orElse("–"),
        puts.counted(PublishedPuts.CACHE_MISSES).map(Table::decimal).orElse("–"));
    ObjectNode node = json.withObject("/" + valueBytes).putObject(clients + " clients");
    node.put("putsPerSecond", puts.perSecond())
        .put("serverCpuNs", puts.cpuNs())
        .put("serverWorkNs", puts.workNs())
        .put("nsPerPut", puts.ns());
    puts.counted(PublishedPuts.INSTRUCTIONS).ifPresent(each -> node.put("instructions", each));
    puts.counted(PublishedPuts.CACHE_MISSES).ifPresent(each -> node.put("cacheMisses", each));
    boolean judged = valueBytes == SIZE_JUDGED && clients == CLIENTS[CLIENTS.length - 1];
    if (judged && puts.ns() > NS_MAX) {
      missed.add(
          String.format(
              Locale.ROOT,
              "a put of %d bytes takes %.0f ns of the server's core, expected at most %.0f",
              valueBytes,
              puts.ns(),
              NS_MAX));
    }
  }
}
