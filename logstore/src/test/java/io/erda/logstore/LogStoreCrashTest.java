package io.erda.logstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.CrashDirectory.Crash;
import io.erda.logstore.CrashDirectory.Fate;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/**
 * Every store, flush, drain, creation and synchronisation of a small life of a log is interrupted,
 * and then every one of the recovery that follows, by a crash of the process, or a power failure
 * that loses none, all, or some of the words that were not drained.
 */
class LogStoreCrashTest {
  private static final LogGeometry GEOMETRY = new LogGeometry(2, 64 << 10, 4 << 10, 4);
  private static final UUID STORE = new UUID(0x0123_4567_89AB_CDEFL, 0xFEDC_BA98_7654_3210L);
  private static final long SEED = Long.getLong("erda.seed", 20261120);

  /** The promises that somebody outside relies on. */
  private static final class Promises {
    boolean created;

    /** The state of a cleaning: whether one is under way, and whether its victim is going. */
    boolean cleaning;

    boolean retiring;
    long advanced;
    final List<Grant> grants = new ArrayList<>();
  }

  /**
   * A lease that was returned; an object that was drained at its beginning, {@code bytes} 0 when
   * none.
   */
  private static final class Grant {
    final String file;
    final int head;
    final int index;
    final long place;
    final long end;
    final Extent extent;
    int bytes;
    boolean decided;

    /** Its region was cleaned: nothing of it is promised any more. */
    boolean gone;

    Grant(CopySpace copySpace) {
      Region region = copySpace.region();
      this.file = LogFiles.region(region.slot(), region.generation());
      this.head = region.head();
      this.index = region.index();
      this.place = copySpace.next();
      this.end = copySpace.end();
      this.extent = null;
      this.decided = true;
    }

    Grant(Extent extent) {
      Region region = extent.region();
      this.file = LogFiles.region(region.slot(), region.generation());
      this.head = region.head();
      this.index = region.index();
      this.place = extent.place();
      this.end = extent.end();
      this.extent = extent;
    }
  }

  private record Crashing(String name, Consumer<CrashDirectory> happen) {}

  private static List<Crashing> crashings() {
    List<Crashing> list = new ArrayList<>();
    list.add(new Crashing("process", CrashDirectory::processCrash));
    list.add(new Crashing("power, all lost", directory -> directory.powerFailure(Fate.LOST)));
    list.add(new Crashing("power, all kept", directory -> directory.powerFailure(Fate.KEPT)));
    for (int i = 0; i < 2; i++) {
      long seed = SEED + i;
      list.add(
          new Crashing(
              "power, seed " + seed, directory -> directory.powerFailure(random(seed, directory))));
    }
    return list;
  }

  private static Fate random(long seed, CrashDirectory directory) {
    return Fate.random(
        RandomGeneratorFactory.of("L64X128MixRandom").create(seed * 1_000_003 + directory.steps()));
  }

  @Test
  void everyStepOfALifeAndOfItsRecoveryMayBeTheLast() throws IOException {
    long lifeSteps = stepsOfAWholeLife();
    assertTrue(lifeSteps > 150, () -> "steps " + lifeSteps);
    int runs = 0;
    for (long at = 1; at <= lifeSteps + 1; at++) {
      for (Crashing first : crashings()) {
        long recoverySteps = run(at, first, Long.MAX_VALUE, first);
        runs++;
        // One kind of second crash for each point, in turn: all pairs over neighbouring points.
        for (long again = 1; again <= recoverySteps; again++) {
          Crashing second = crashings().get((int) ((at + again) % crashings().size()));
          run(at, first, again, second);
          runs++;
        }
      }
    }
    int total = runs;
    assertTrue(total > 20_000, () -> "runs " + total);
  }

  private static long stepsOfAWholeLife() throws IOException {
    try (CrashDirectory directory = new CrashDirectory()) {
      Promises promises = new Promises();
      live(directory, promises);
      directory.processCrash();
      recover(directory, promises);
      return directory.steps();
    }
  }

  /** Returns the steps of the recovery. */
  private static long run(long crashAt, Crashing first, long crashAgainAt, Crashing second)
      throws IOException {
    try (CrashDirectory directory = new CrashDirectory()) {
      Promises promises = new Promises();
      directory.crashAtStep(crashAt);
      try {
        live(directory, promises);
      } catch (Crash crash) {
        // The test made this crash.
      }
      first.happen().accept(directory);
      long before = directory.steps();
      if (crashAgainAt != Long.MAX_VALUE) {
        directory.crashAtStep(crashAgainAt);
        try {
          recover(directory, promises);
        } catch (Crash crash) {
          // The test made this one too.
        }
        second.happen().accept(directory);
      }
      recover(directory, promises);
      long steps = directory.steps() - before;
      directory.powerFailure(Fate.LOST);
      recover(directory, promises);
      return steps;
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(
          "crash at step "
              + crashAt
              + " ("
              + first.name()
              + "), again at "
              + crashAgainAt
              + " ("
              + second.name()
              + "); replay with -Derda.seed="
              + SEED,
          e);
    }
  }

  /**
   * A life with everything in it: two heads, marks that rise and follow, a second region, no room,
   * an orderly restart.
   */
  private static void live(CrashDirectory directory, Promises promises) throws IOException {
    try (LogStore log = LogStore.create(directory, GEOMETRY, STORE)) {
      promises.created = true;
      Extent first = lease(log, promises, 0, 100, 100);
      write(promises, first);
      lease(log, promises, 0, 16, 5000);
      write(promises, lease(log, promises, 1, 4032, 4032));
      settle(log, promises, first);
      for (int i = 0; i < 15; i++) {
        Extent extent = lease(log, promises, 0, 4000, 4000);
        settle(log, promises, extent);
      }
      log.storeLowMarks();
      write(promises, lease(log, promises, 0, 2000, 2000));
      directory.roomBytes = 0;
      for (int i = 0; i < 15; i++) {
        settle(log, promises, lease(log, promises, 1, 4032, 4032));
      }
      assertTrue(log.lease(1, 4032, 4032) instanceof LeaseResult.DiskFull);
      directory.roomBytes = Long.MAX_VALUE;
      lease(log, promises, 1, 4032, 4032);
      clean(log, promises, log.region(0, 8), 9000);
      clean(log, promises, log.region(0, GEOMETRY.offset(1, 0)), 40_000);
    }
    recover(directory, promises);
  }

  /** A cleaning as the log sees it. */
  private static void clean(LogStore log, Promises promises, Region victim, long bytes) {
    String file = LogFiles.region(victim.slot(), victim.generation());
    promises.grants.stream()
        .filter(grant -> grant.file.equals(file))
        .forEach(grant -> {
          grant.decided = true;
          if (grant.extent != null) {
            log.end(grant.extent);
          }
        });
    log.cleaning().seal(victim);
    CopySpace copySpace = log.cleaning().setAside(victim, Region.HEADER_BYTES + bytes, bytes);
    promises.advanced = copySpace.next();
    promises.cleaning = true;
    promises.grants.add(new Grant(copySpace));
    assertTrue(copySpace.take(4000) >= 0);
    log.cleaning().advance(copySpace, copySpace.next());
    promises.advanced = copySpace.next();
    lease(log, promises, 0, 24, 24);
    promises.grants.stream()
        .filter(grant -> grant.file.equals(file))
        .forEach(grant -> grant.gone = true);
    promises.retiring = true;
    log.cleaning().retire(victim);
    log.cleaning().release(copySpace);
    promises.cleaning = false;
    promises.retiring = false;
    // The first file is used again at once, for the target of the second cleaning.
    if (victim.generation() == 1) {
      assertTrue(log.files().reuse(victim));
    } else {
      log.files().remove(victim);
      victim.memory().close();
    }
  }

  private static Extent lease(LogStore log, Promises promises, int head, int min, int wanted) {
    Extent extent = ((LeaseResult.Leased) log.lease(head, min, wanted)).extent();
    promises.grants.add(new Grant(extent));
    return extent;
  }

  private static Grant grantOf(Promises promises, Extent extent) {
    return promises.grants.stream().filter(grant -> grant.extent == extent).findAny().orElseThrow();
  }

  private static void write(Promises promises, Extent extent) {
    Region region = extent.region();
    MemorySegment buffer = MemorySegment.ofArray(new byte[32]);
    MemorySegment key = MemorySegment.ofArray(new byte[] {1, 2, 3});
    int offset = GEOMETRY.offset(region.index(), extent.place());
    int bytes =
        new ObjectWriter(buffer)
            .write(
                0,
                key,
                0,
                3,
                key,
                0,
                3,
                false,
                ObjectChecksum.positionMix(region.head(), region.generation(), offset));
    region.memory().put(extent.place(), buffer, 0, bytes);
    region.memory().flush(extent.place(), bytes);
    region.memory().drain();
    grantOf(promises, extent).bytes = 16;
  }

  private static void settle(LogStore log, Promises promises, Extent extent) {
    grantOf(promises, extent).decided = true;
    log.settle(extent, extent.place() + extent.length() / 16 * 8);
    log.end(extent);
  }

  /** Opens, or creates where that was never finished; requires all promises; goes on. */
  private static void recover(CrashDirectory directory, Promises promises) throws IOException {
    LogStore log;
    if (promises.created) {
      log = LogStore.open(directory, GEOMETRY, STORE);
    } else {
      log = LogStore.create(directory, GEOMETRY, STORE);
      promises.created = true;
    }
    requireFilesAreNamed(directory, log);
    Set<String> found = new HashSet<>();
    log.scan((region, offset, place, bytes) ->
        found.add(LogFiles.region(region.slot(), region.generation()) + "@" + place + ":" + bytes));
    requireCleaning(promises, log);
    for (Grant grant : promises.grants) {
      if (grant.gone) {
        continue;
      }
      Region region = log.region(grant.head, GEOMETRY.offset(grant.index, grant.place));
      assertTrue(region != null, () -> "no region for " + grant.extent);
      assertEquals(grant.file, LogFiles.region(region.slot(), region.generation()));
      assertTrue(
          grant.bytes == 0
              || grant.decided
              || found.contains(grant.file + "@" + grant.place + ":" + grant.bytes),
          () -> "not found: " + grant.extent);
    }
    // The server has decided what it found; from here on the scan may not see it any more.
    promises.grants.forEach(grant -> grant.decided = true);
    log.closeMarks();
    List<Grant> before = List.copyOf(promises.grants);
    for (int head = 0; head < GEOMETRY.heads(); head++) {
      if (log.lease(head, 24, 24) instanceof LeaseResult.Leased(Extent extent)) {
        promises.grants.add(new Grant(extent));
        before.forEach(grant -> requireDisjoint(grant, extent));
        write(promises, extent);
      }
    }
  }

  private static void requireCleaning(Promises promises, LogStore log) {
    CopySpace copySpace = log.cleaning().interrupted();
    if (promises.cleaning && !promises.retiring) {
      assertTrue(copySpace != null, "the cleaning is forgotten");
      assertTrue(copySpace.next() >= promises.advanced, () -> "places named twice: " + copySpace);
    }
  }

  private static void requireFilesAreNamed(CrashDirectory directory, LogStore log) {
    Set<String> expected = new TreeSet<>();
    expected.add("regions");
    log.regions()
        .forEach(region -> expected.add(LogFiles.region(region.slot(), region.generation())));
    assertEquals(expected, new TreeSet<>(directory.names()));
  }

  private static void requireDisjoint(Grant grant, Extent extent) {
    Region region = extent.region();
    boolean sameRegion = grant.file.equals(LogFiles.region(region.slot(), region.generation()));
    assertTrue(
        !sameRegion || extent.place() >= grant.end || extent.end() <= grant.place,
        () -> extent + " was handed out before as " + grant.extent);
  }
}
