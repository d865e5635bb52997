package io.erda.simulation.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.console.UserError;
import io.erda.simulation.StoreStatistics;
import io.erda.simulation.system.Configuration;
import io.erda.simulation.system.Fault;
import io.erda.simulation.system.RunResult;
import io.erda.simulation.system.RunResultBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SimulateCommandTest {
  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final List<Long> seeds = new ArrayList<>();

  @Test
  void someRunsOfTheRealThing() throws Exception {
    Path json = directory.resolve("result.json");
    assertEquals(
        0,
        parsed(new SimulateCommand(), "--runs", "4", "--seed", "11", "--json", json.toString())
            .call());
    assertTrue(
        out.toString().contains("connection loss") && out.toString().contains("violations"),
        out::toString);
    assertTrue(
        err.toString().contains("4 runs")
            && err.toString().contains("simulated seconds per second"),
        err::toString);
    JsonNode node = new ObjectMapper().readTree(json.toFile());
    assertEquals(4, node.get("runs").asInt());
    assertEquals(11, node.get("firstSeed").asLong());
    assertEquals(Fault.values().length, node.get("faults").size());
    assertTrue(
        node.get("operationsPerCpuSecond").asLong() > 0 && node.get("struck").size() > 0,
        node::toString);
    assertTrue(out.toString().contains("between steps, serving"), out::toString);
    assertTrue(node.get("ok").asInt() > 0 && node.get("violation").isNull(), node::toString);
  }

  @Test
  void theFirstViolationEndsItAndSaysHowToReplayIt() throws Exception {
    Path json = directory.resolve("result.json");
    SimulateCommand command =
        parsed(new SimulateCommand(this::failsAtNine), "--seed", "7", "--json", json.toString());
    UserError error = assertThrows(UserError.class, command::call);
    assertEquals(1, error.exitCode());
    assertTrue(
        error.getMessage().endsWith("./erda simulate --runs 1 --seed 9"), error.getMessage());
    assertEquals(List.of(7L, 8L, 9L), seeds);
    assertTrue(out.toString().contains("an acknowledged put is gone"), out::toString);
    JsonNode node = new ObjectMapper().readTree(json.toFile());
    assertEquals(9, node.get("violation").get("seed").asLong());
    assertEquals(
        6, node.get("crashes").asLong(), "of server and clients, a power failure is on top of one");
  }

  @Test
  void limitsAreChecked() {
    assertEquals(
        2,
        assertThrows(UserError.class, parsed(new SimulateCommand(), "--runs", "0")::call)
            .exitCode());
    assertEquals(
        2,
        assertThrows(UserError.class, parsed(new SimulateCommand(), "--seconds", "0")::call)
            .exitCode());
  }

  private RunResult failsAtNine(long seed) {
    seeds.add(seed);
    return new RunResultBuilder()
        .seed(seed)
        .configuration(Configuration.random(new SplittableRandom(seed)))
        .operations(10)
        .ok(9)
        .unknown(1)
        .simulatedNs(1000)
        .faults(
            Map.of(
                Fault.SERVER_CRASH_IN_RECOVERY,
                1L,
                Fault.CLIENT_CRASH,
                1L,
                Fault.POWER_FAILURE,
                1L))
        .stores(new StoreStatistics(0, 0, 0, 0, 0, 0, 0))
        .failure(seed == 9 ? "an acknowledged put is gone" : null)
        .build();
  }

  private SimulateCommand parsed(SimulateCommand command, String... args) {
    CommandLine line =
        new CommandLine(command)
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true));
    line.parseArgs(args);
    return command;
  }
}
