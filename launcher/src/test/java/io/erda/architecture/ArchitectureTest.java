package io.erda.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules that module descriptors can't express, for the classes of every module. */
class ArchitectureTest {
  private static final Set<String> STRUCTURES =
      Set.of("pmem", "rdma", "protocol", "hashtable", "logstore");

  /** Module → what it may know. A new module begins with a line here. */
  private static final Map<String, Set<String>> ARROWS =
      Map.ofEntries(
          Map.entry("pmem", Set.of()),
          Map.entry("protocol", Set.of()),
          Map.entry("rdma", Set.of("pmem")),
          Map.entry("verbs", Set.of("pmem", "rdma")),
          Map.entry("hashtable", Set.of("pmem")),
          Map.entry("logstore", Set.of("pmem")),
          Map.entry("cleaner", Set.of("pmem", "hashtable", "logstore")),
          Map.entry("client", STRUCTURES),
          Map.entry("server", and(STRUCTURES, "client", "cleaner")), // ErdaStore offers a client
          Map.entry("ycsb", Set.of("client", "protocol")),
          Map.entry("console", Set.of()),
          Map.entry("launcher", and(STRUCTURES, "client", "server", "cleaner", "verbs", "console")),
          // The laboratory: nothing above knows it.
          Map.entry("simulation", and(STRUCTURES, "client", "server", "cleaner", "console")),
          Map.entry(
              "eval",
              and(STRUCTURES, "client", "server", "cleaner", "ycsb", "console", "simulation")),
          Map.entry(
              "torture",
              and(STRUCTURES, "client", "server", "cleaner", "console", "simulation", "eval")));

  /** They are wiring from end to end: they start processes and measure them. */
  private static final Set<String> WIRING_MODULES =
      Set.of("eval", "launcher", "torture", "console");

  /** Where the real clock and real chance come in. */
  private static final Set<String> WIRING =
      Set.of(
          "io.erda.client.connections.Devices",
          "io.erda.server.ErdaServer",
          "io.erda.server.ErdaStore",
          "io.erda.server.OpenedStore",
          "io.erda.server.ServerThread",
          "io.erda.server.StoreVerifier",
          "io.erda.simulation.commands.SimulateCommand",
          "io.erda.verbs.ffm.Alias");

  private static final Set<String> ALLOWED_STATICS =
      Set.of(
          "io.erda.rdma.shm.QueueFile.NEXT", // file names that are unique in this JVM
          "io.erda.verbs.ffm.Alias.NEXT", // addresses are the whole process's
          "io.erda.verbs.ffm.Foreign.STATES", // each thread's errno
          "io.erda.verbs.ffm.Pointers$Scratch.OF_THREAD", // each thread's memory for small structs
          "io.erda.ycsb.CheckedExporter.LAST"); // YCSB makes the exporter itself, by its class name

  private static final ArchitectureRules RULES =
      new ArchitectureRules(
          "io.erda",
          new ClassFileImporter()
              .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
              .importPackages("io.erda"));

  @Test
  void theArrowsBetweenModulesHold() {
    assertNone(RULES.wrongArrows(ARROWS));
  }

  /** The allowed dependencies between the packages of the client. */
  private static final Map<String, Set<String>> ROOMS_OF_THE_CLIENT =
      Map.of(
          "files",
          Set.of(),
          "connections",
          Set.of("files"),
          "operations",
          Set.of("connections"),
          "gets",
          Set.of("connections", "operations"),
          "puts",
          Set.of("connections", "operations", "gets"),
          "iteration",
          Set.of("connections", "operations", "gets"),
          "calls",
          Set.of("connections", "operations", "gets", "puts", "iteration"),
          "shared",
          Set.of("connections", "operations", "iteration", "calls"));

  /**
   * The types that callers pass to the client and get from it. Every package may depend on them.
   */
  private static final Set<String> OF_CALLERS =
      Set.of("BatchException", "ClientOptions", "ClientStatistics", "ErdaUri", "OperationHandler");

  private static final Map<String, Set<String>> ROOMS_OF_THE_ENGINE =
      Map.of(
          "events",
          Set.of(),
          "files",
          Set.of(),
          "tables",
          Set.of("events", "files"),
          "publishing",
          Set.of("files", "tables"),
          "store",
          Set.of("events", "files", "tables", "publishing"),
          "inspection",
          Set.of("files", "tables", "store"),
          "service",
          Set.of("events", "files", "tables", "publishing", "store"));

  /** Every room knows the seam, which is the package around them. */
  private static final Map<String, Set<String>> ROOMS_OF_DEVICES =
      Map.of(
          "rings",
          Set.of(),
          "embedded",
          Set.of("rings"),
          "shm",
          Set.of("rings"),
          "tcp",
          Set.of("embedded"));

  @Test
  void theArrowsBetweenTheRoomsOfDevicesHold() {
    assertNone(rules("io.erda.rdma").wrongRooms(ROOMS_OF_DEVICES, _ -> true, Map.of()));
  }

  @Test
  void theArrowsBetweenTheRoomsOfTheClientHold() {
    assertNone(
        rules("io.erda.client")
            .wrongRooms(
                ROOMS_OF_THE_CLIENT,
                OF_CALLERS::contains,
                Map.of(
                    "shared",
                    Set.of(
                        "ErdaClient",
                        "ErdaAsyncClient",
                        "ErdaClientPool",
                        "Serializer",
                        "UndecodableException"))));
  }

  @Test
  void theArrowsBetweenTheRoomsOfTheEngineHold() {
    assertNone(
        rules("io.erda.server.engine").wrongRooms(ROOMS_OF_THE_ENGINE, _ -> false, Map.of()));
  }

  /**
   * The JVM links such a call site at its first use, and keeps an error of that for ever: a stack
   * that overflowed there made the same text fail in every thread. After compiler arguments have
   * changed, {@code mvn clean} compiles all classes anew.
   */
  @Test
  void textsAreJoinedWithoutCallSites() throws IOException {
    assertNone(RULES.naming("java/lang/invoke/StringConcatFactory"));
  }

  @Test
  void whatNeedsTheJdkAloneNeedsTheJdkAlone() {
    assertNone(RULES.beyondTheJdk(Set.of("pmem", "rdma", "protocol")));
  }

  /** It is on the class path of these alone, by {@code start.sh}. */
  @Test
  void ycsbIsReachedFromTheCommandsThatMeasureWithIt() {
    assertEquals(
        Set.of("EvalCommand", "QuickstartCommand", "YcsbCommand"),
        RULES.reaching("site.ycsb", "eval.commands", "Command"));
  }

  @Test
  void timeAndChanceComeInByConstructor() {
    assertNone(RULES.ownTimeOrChance(WIRING_MODULES, WIRING));
  }

  @Test
  void noStaticStateIsMutable() {
    assertNone(RULES.mutableStatics(ALLOWED_STATICS));
  }

  /** One class for libc, and one for the two libraries of RDMA. */
  @Test
  void foreignFunctionsHaveOneHome() {
    assertNone(RULES.foreignCalls(Set.of("io.erda.pmem.libc.Libc", "io.erda.verbs.ffm.Foreign")));
  }

  /**
   * It is what a JVM throws for memory that is not there, and for selectors that fail. The READ of
   * a get, and the commit of a client, catch it for the guard, whose call would keep their loads
   * from being inlined.
   */
  @Test
  void theGuardAloneCatchesFaultsOfMemory() {
    assertNone(
        RULES.catching(
            InternalError.class,
            Set.of(
                "io.erda.pmem.MemoryGuard",
                "io.erda.client.connections.CommitLine",
                "io.erda.rdma.Selectors",
                "io.erda.rdma.rings.OneSidedWork")));
  }

  /** The rules on two small modules that break each of them. */
  @Test
  void theRulesFindWhatBreaksThem() throws IOException {
    JavaClasses broken = new ClassFileImporter().importPackages("io.erda.architecture.broken");
    ArchitectureRules rules = new ArchitectureRules("io.erda.architecture.broken", broken);

    assertFinds(
        "low must not know high", rules.wrongArrows(Map.of("low", Set.of(), "high", Set.of())));
    assertNone(rules.wrongArrows(Map.of("low", Set.of("high"), "high", Set.of())));
    assertFinds("without arrows: high", rules.wrongArrows(Map.of("low", Set.of("high"))));

    assertFinds(
        "low must not know high",
        rules.wrongRooms(Map.of("low", Set.of(), "high", Set.of()), _ -> false, Map.of()));
    assertFinds(
        "in a room without arrows: high",
        rules.wrongRooms(Map.of("low", Set.of("high")), _ -> false, Map.of()));
    ArchitectureRules around =
        new ArchitectureRules(
            "io.erda.architecture",
            new ClassFileImporter().importPackages("io.erda.architecture.broken"));
    assertFinds(
        "broken must not know Outside",
        around.wrongRooms(Map.of("broken", Set.of()), _ -> false, Map.of()));
    assertNone(around.wrongRooms(Map.of("broken", Set.of()), "Outside"::equals, Map.of()));
    assertNone(
        around.wrongRooms(
            Map.of("broken", Set.of()), _ -> false, Map.of("broken", Set.of("Outside"))));

    assertFinds("org.junit", rules.beyondTheJdk(Set.of("high")));
    assertNone(rules.beyondTheJdk(Set.of("low")));

    Collection<String> time = rules.ownTimeOrChance(Set.of(), Set.of());
    assertFinds("System.nanoTime()", time); // a method reference
    assertFinds("System.currentTimeMillis()", time); // a call
    assertFinds("Random.<init>()", time);
    assertFinds("Math.random()", time);
    assertEquals(4, time.size(), time::toString); // the seeded Random is none
    assertNone(rules.ownTimeOrChance(Set.of("low"), Set.of()));
    assertNone(rules.ownTimeOrChance(Set.of(), Set.of("io.erda.architecture.broken.low.Low")));

    assertFinds("nativeLinker()", rules.foreignCalls(Set.of()));
    assertNone(rules.foreignCalls(Set.of("io.erda.architecture.broken.low.Low")));

    assertFinds("sample() catches InternalError", rules.catching(InternalError.class, Set.of()));
    assertNone(rules.catching(InternalError.class, Set.of("io.erda.architecture.broken.low.Low")));

    assertFinds("Low names", rules.naming("java/util/Random"));

    Collection<String> statics = rules.mutableStatics(Set.of());
    assertFinds("Low.counter", statics);
    assertFinds("Low.ATOMIC", statics);
    assertEquals(2, statics.size(), statics::toString);
  }

  private static ArchitectureRules rules(String root) {
    return new ArchitectureRules(
        root,
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(root));
  }

  private static Set<String> and(Set<String> some, String... more) {
    return Stream.concat(some.stream(), Stream.of(more)).collect(Collectors.toUnmodifiableSet());
  }

  private static void assertNone(Collection<String> findings) {
    assertTrue(findings.isEmpty(), () -> "\n" + String.join("\n", findings));
  }

  private static void assertFinds(String part, Collection<String> findings) {
    Predicate<String> contains = finding -> finding.contains(part);
    assertTrue(findings.stream().anyMatch(contains), () -> part + " not in " + findings);
  }
}
