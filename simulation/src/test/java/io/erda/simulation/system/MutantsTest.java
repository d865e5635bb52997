package io.erda.simulation.system;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Deliberate defects, put between the store and its memory: the simulation has to find them. */
final class MutantsTest {
  private static final int SEEDS_MAX = 2000;

  @Test
  void withoutDrain() {
    assertFound(SeamMutant.NO_DRAIN, memory -> new Defective(memory, true, false, false));
  }

  @Test
  void withoutFlush() {
    assertFound(SeamMutant.NO_FLUSH, memory -> new Defective(memory, false, true, false));
  }

  @Test
  void visibleTakenForDurable() {
    assertFound(SeamMutant.VISIBLE_IS_DURABLE, memory -> new Defective(memory, false, true, true));
  }

  private static void assertFound(
      SeamMutant which, Function<PersistentMemory, PersistentMemory> defect) {
    UnaryOperator<MemoryDirectory> over = directory -> new DefectiveDirectory(directory, defect);
    which.assertFound(
        SEEDS_MAX,
        seed -> {
          Configuration configuration = Configuration.random(new SplittableRandom(seed));
          StoreUnderTest erda = new ErdaUnderTest(configuration);
          return new SystemSimulation(seed, configuration, erda, over, UnaryOperator.identity())
              .run()
              .failure();
        });
  }

  private static final class Defective extends ForwardingMemory {
    private final boolean noDrain;
    private final boolean noFlush;
    private final boolean lies;

    Defective(PersistentMemory memory, boolean noDrain, boolean noFlush, boolean lies) {
      super(memory);
      this.noDrain = noDrain;
      this.noFlush = noFlush;
      this.lies = lies;
    }

    @Override
    public void flush(long offset, long length) {
      if (!noFlush) {
        super.flush(offset, length);
      }
    }

    @Override
    public void drain() {
      if (!noDrain) {
        super.drain();
      }
    }

    @Override
    public boolean visibleBeforeDurable() {
      return !lies && super.visibleBeforeDurable();
    }
  }

  private static final class DefectiveDirectory extends ForwardingDirectory {
    private final Function<PersistentMemory, PersistentMemory> defect;

    DefectiveDirectory(
        MemoryDirectory directory, Function<PersistentMemory, PersistentMemory> defect) {
      super(directory);
      this.defect = defect;
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return defect.apply(memory);
    }
  }
}
