package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Deliberate defects, put between the store and its memory: the simulation has to find them. */
final class MutantsTest {
  private static final int SEEDS_MAX = 2000;

  @Test
  void withoutDrain() {
    assertFound("drain does nothing", memory -> new Defective(memory, true, false, false));
  }

  @Test
  void withoutFlush() {
    assertFound("flush does nothing", memory -> new Defective(memory, false, true, false));
  }

  @Test
  void visibleTakenForDurable() {
    assertFound(
        "visible is said to be durable", memory -> new Defective(memory, false, true, true));
  }

  private static void assertFound(
      String what, Function<PersistentMemory, PersistentMemory> defect) {
    UnaryOperator<MemoryDirectory> over = directory -> new DefectiveDirectory(directory, defect);
    for (long seed = 1; seed <= SEEDS_MAX; seed++) {
      Configuration configuration = Configuration.random(new SplittableRandom(seed));
      StoreUnderTest erda =
          new ErdaUnderTest(configuration.store(), configuration.limits(), configuration.client());
      RunResult result =
          new SystemSimulation(seed, configuration, erda, over, UnaryOperator.identity()).run();
      if (result.failure() != null) {
        System.out.println(
            what
                + ": found by seed "
                + seed
                + ": "
                + result.failure().lines().findFirst().orElse(""));
        return;
      }
    }
    assertTrue(false, what + ": not found by " + SEEDS_MAX + " seeds");
  }

  private record Defective(PersistentMemory memory, boolean noDrain, boolean noFlush, boolean lies)
      implements PersistentMemory {
    @Override
    public MemorySegment segment() {
      return memory.segment();
    }

    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      memory.put(offset, source, sourceOffset, length);
    }

    @Override
    public void putLongRelease(long offset, long value) {
      memory.putLongRelease(offset, value);
    }

    @Override
    public void flush(long offset, long length) {
      if (!noFlush) {
        memory.flush(offset, length);
      }
    }

    @Override
    public void drain() {
      if (!noDrain) {
        memory.drain();
      }
    }

    @Override
    public Survives survives() {
      return memory.survives();
    }

    @Override
    public boolean visibleBeforeDurable() {
      return !lies && memory.visibleBeforeDurable();
    }

    @Override
    public Backing backing() {
      return memory.backing();
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  private record DefectiveDirectory(
      MemoryDirectory directory, Function<PersistentMemory, PersistentMemory> defect)
      implements MemoryDirectory {
    @Override
    public PersistentMemory create(String name, long length) throws IOException {
      return defect.apply(directory.create(name, length));
    }

    @Override
    public PersistentMemory open(String name) throws IOException {
      return defect.apply(directory.open(name));
    }

    @Override
    public void delete(String name) throws IOException {
      directory.delete(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
      directory.rename(from, to);
    }

    @Override
    public boolean exists(String name) {
      return directory.exists(name);
    }

    @Override
    public List<String> names() throws IOException {
      return directory.names();
    }

    @Override
    public void sync() throws IOException {
      directory.sync();
    }

    @Override
    public boolean lock() throws IOException {
      return directory.lock();
    }

    @Override
    public Survives survives() {
      return directory.survives();
    }

    @Override
    public void close() {
      directory.close();
    }
  }
}
