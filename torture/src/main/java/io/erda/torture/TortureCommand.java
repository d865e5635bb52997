package io.erda.torture;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.console.StandardOutput;
import io.erda.console.TerminalProgress;
import io.erda.console.TextTable;
import io.erda.console.UserError;
import io.erda.eval.process.Children;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.process.Jvm;
import io.erda.protocol.PutMode;
import io.erda.server.Committers;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code erda torture}: kills and stops real processes and checks their histories. */
@Command(
    name = "torture",
    description =
        "Kill server and clients at random instants, while the log is cleaned, the table doubles"
            + " and the store runs full; stop writers across restarts; check the complete history.",
    footer = {
      "",
      "The history must be linearizable, so every acknowledged value must have held and what was"
          + " refused must have had no effect, every operation is told once and in time, and the"
          + " store must verify. As root some clients are of the user nobody. Exit code 1 and a"
          + " report when not; the store is kept then. A run in which nothing was cleaned or"
          + " doubled fails too."
    })
public final class TortureCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--seconds", paramLabel = "N", description = "How long, at least; 30 by default.")
  private int seconds = 30;

  @Option(
      names = "--kills",
      paramLabel = "N",
      description = "How many kills of server and clients, at least.")
  private int kills;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description = "Client processes at a time, at least 2; 2 by default.")
  private int clients = 2;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "What is done when; random by default. The kernel has its say, too.")
  private Long seed;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      description = "How clients reach the server: shm, tcp or rdma; shm by default.")
  private DeviceChoice device = DeviceChoice.SHM;

  @Option(
      names = "--access-ms",
      paramLabel = "N",
      description =
          "How long after a client's kill its keys may keep others waiting; 1000 by default, and"
              + " more only where the machine is slow.")
  private int accessMs = 1000;

  @Option(
      names = "--put",
      paramLabel = "MODE",
      description = "How the stores' puts are done: publish or announce; publish by default.")
  private PutMode putMode = PutMode.PUBLISH;

  @Option(
      names = "--commits",
      paramLabel = "WHO",
      description =
          "Who commits updates: none (the servers), or own (in four of five servers their clients"
              + " do, and are stopped in bursts, too; over shm); none by default.")
  private Committers commits = Committers.NONE;

  @Option(
      names = "--no-wire-faults",
      description =
          "Over TCP: leave out the proxy that flips bits, cuts connections and stalls them on the"
              + " way to every other store.")
  private boolean noWireFaults;

  @Option(names = "--json", description = "Print the result as one JSON object.")
  private boolean json;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      defaultValue = "${sys:java.io.tmpdir}",
      description = "Where the store goes while it runs (default: ${DEFAULT-VALUE}).")
  private Path directory;

  @Override
  public Integer call() throws IOException {
    if (seconds < 0 || kills < 0 || accessMs < 0 || clients < 2) {
      throw new UserError(
          "--seconds, --kills and --access-ms must not be negative, --clients must be at least 2",
          2);
    }
    if (commits == Committers.OWN && (device != DeviceChoice.SHM || putMode != PutMode.PUBLISH)) {
      throw new UserError("--commits own is for --device shm and --put publish", 2);
    }
    long chosen = seed != null ? seed : new SecureRandom().nextLong() >>> 1;
    TortureResult result;
    try (Children children = new Children()) {
      TortureOptions options =
          new TortureOptions(
              seconds,
              kills,
              clients,
              chosen,
              accessMs,
              device,
              putMode,
              commits,
              !noWireFaults,
              directory);
      TerminalProgress progress =
          new TerminalProgress(spec.commandLine().getErr(), StandardOutput.errorIsTerminal());
      result = new Torture(children, Jvm.current(), options, progress).run();
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(json(result, chosen));
    } else {
      out.print(table(result, chosen));
    }
    if (!result.violations().isEmpty()) {
      result.violations().forEach(violation -> out.println("\nviolation: " + violation));
      out.flush();
      throw new UserError(result.violations().size() + " violations; again with --seed " + chosen);
    }
    return 0;
  }

  private static String orLeftOut(TortureResult.Clients clients, long count) {
    return clients.otherUserLeftOut().isEmpty() ? Numbers.count(count) : "left out";
  }

  private static TextTable table(TortureResult result, long seed) {
    TortureResult.Clients clients = result.clients();
    return new TextTable("torture", "")
        .row("seed", seed)
        .row("server kills", result.servers().kills())
        .row("of them in recovery", result.servers().killsInRecovery())
        .row("of them inside a cleaning", result.servers().killsInCleaning())
        .row("of them inside a doubling or halving", result.servers().killsInDoubling())
        .row("client kills", clients.kills())
        .row("of them with handlers that throw, submit and close", clients.pipelinedKills())
        .row("of them with clients shared by threads", clients.sharedKills())
        .row("of them with clients that read files", clients.readerKills())
        .row("of them of another user", orLeftOut(clients, clients.otherUserKills()))
        .row("stops across a restart", result.servers().stopsAcrossRestart())
        .row("stops in bursts", Numbers.count(result.commits().stops()))
        .row("commits of clients", Numbers.count(result.commits().commits()))
        .row("commits of stopped clients, ended by a server", result.commits().defeated())
        .row("embedded openings", result.embedded().openings())
        .row("of them killed", result.embedded().kills())
        .row("operations", Numbers.count(result.operations()))
        .row("of them by handlers' clients", Numbers.count(clients.pipelinedOperations()))
        .row("of them by threads' clients", Numbers.count(clients.sharedOperations()))
        .row("of them by readers of files", Numbers.count(clients.readerOperations()))
        .row("of them by another user", orLeftOut(clients, clients.otherUserOperations()))
        .row("conditions that held", Numbers.count(result.conditions().held()))
        .row("conditions that did not", Numbers.count(result.conditions().missed()))
        .row("calls with several keys", Numbers.count(clients.callsWithSeveral()))
        .row("iterations", Numbers.count(clients.iterations()))
        .row("unknown outcomes", result.unknownOutcomes())
        .row("stores, one after the other", result.space().stores())
        .row("regions cleaned and freed", Numbers.count(result.space().regionsFreed()))
        .row("bytes copied by cleaning", Numbers.count(result.space().bytesCopied()))
        .row("doublings of the table", result.space().doublings())
        .row("requests refused as full", Numbers.count(result.space().refused()))
        .row("bits flipped on the way", Numbers.count(result.wire().flips()))
        .row("connections cut on the way", Numbers.count(result.wire().cuts()))
        .row("connections stalled on the way", Numbers.count(result.wire().stalls()))
        .row("slowest access after a kill", Numbers.time(result.slowestAccessNs()))
        .row("violations", result.violations().size());
  }

  private static ObjectNode json(TortureResult result, long seed) {
    ObjectNode node = new ObjectMapper().createObjectNode();
    node.put("seed", seed)
        .put("serverKills", result.servers().kills())
        .put("serverKillsInRecovery", result.servers().killsInRecovery())
        .put("serverKillsInCleaning", result.servers().killsInCleaning())
        .put("serverKillsInDoubling", result.servers().killsInDoubling())
        .put("clientKills", result.clients().kills())
        .put("pipelinedKills", result.clients().pipelinedKills())
        .put("sharedKills", result.clients().sharedKills())
        .put("readerKills", result.clients().readerKills())
        .put("otherUserKills", result.clients().otherUserKills())
        .put("otherUserLeftOut", result.clients().otherUserLeftOut())
        .put("stopsAcrossRestart", result.servers().stopsAcrossRestart())
        .put("stopsInBursts", result.commits().stops())
        .put("commits", result.commits().commits())
        .put("commitsDefeated", result.commits().defeated())
        .put("embeddedOpenings", result.embedded().openings())
        .put("embeddedKills", result.embedded().kills())
        .put("operations", result.operations())
        .put("pipelinedOperations", result.clients().pipelinedOperations())
        .put("sharedOperations", result.clients().sharedOperations())
        .put("readerOperations", result.clients().readerOperations())
        .put("otherUserOperations", result.clients().otherUserOperations())
        .put("conditionsHeld", result.conditions().held())
        .put("conditionsMissed", result.conditions().missed())
        .put("callsWithSeveral", result.clients().callsWithSeveral())
        .put("iterations", result.clients().iterations())
        .put("unknownOutcomes", result.unknownOutcomes())
        .put("stores", result.space().stores())
        .put("regionsFreed", result.space().regionsFreed())
        .put("bytesCopied", result.space().bytesCopied())
        .put("doublings", result.space().doublings())
        .put("refusedFull", result.space().refused())
        .put("wireFlips", result.wire().flips())
        .put("wireCuts", result.wire().cuts())
        .put("wireStalls", result.wire().stalls())
        .put("slowestAccessNs", result.slowestAccessNs());
    result.violations().forEach(node.putArray("violations")::add);
    return node;
  }
}
