package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The removal of a file that failed is tried again, unless another file has the name then. */
class LeftoversTest {
  private static final long BYTES = 64;

  private final MemoryDirectory files = new HeapDirectory();
  private boolean fails;
  private final Leftovers leftovers =
      new Leftovers(
          new ForwardingDirectory(files) {
            @Override
            public void delete(String name) throws IOException {
              if (fails) {
                throw new IOException("unlink " + name + ": EBUSY");
              }
              super.delete(name);
            }
          });

  private void leave(String name) throws IOException {
    files.create(name, BYTES).close();
    fails = true;
    assertFalse(leftovers.remove(name));
    fails = false;
    assertEquals(1, leftovers.count());
  }

  @Test
  void whatIsLeftIsToldOnceAndRemovedLater() throws IOException {
    List<String> told = new ArrayList<>();
    leftovers.tell(told::add, told::add);
    leave("table-2");
    fails = true;
    leftovers.again();
    assertEquals(1, told.size(), told::toString);
    assertEquals(2, leftovers.failures());
    fails = false;
    leftovers.again();
    assertFalse(files.exists("table-2"));
    assertEquals(0, leftovers.count());
  }

  @Test
  void aFileThatIsMadeUnderTheNameOfALeftoverStays() throws IOException {
    leave("table-2");
    files.delete("table-2");
    leftovers.directory().create("table-2", BYTES).close();
    leftovers.again();
    assertTrue(files.exists("table-2"), "created");

    leave("table-3");
    files.delete("table-3");
    try (Creation creation = leftovers.directory().creating("table-3", BYTES)) {
      PersistentMemory memory = creation.step();
      while (memory == null) {
        memory = creation.step();
      }
      memory.close();
    }
    leftovers.again();
    assertTrue(files.exists("table-3"), "created in steps");

    leave("region-0-4");
    files.create("spare-1", BYTES).close();
    leftovers.directory().rename("spare-1", "region-0-4");
    leftovers.again();
    assertTrue(files.exists("region-0-4"), "renamed onto it");
  }
}
