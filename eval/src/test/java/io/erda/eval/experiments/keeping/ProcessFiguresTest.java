package io.erda.eval.experiments.keeping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessFiguresTest {
  @Test
  void aNumberIsFoundByItsName() throws IOException {
    List<String> status =
        List.of("Name:\tjava", "VmRSS:\t  400 kB", "RssAnon:\t  123 kB", "Threads:\t7");
    assertEquals(123, ProcessFigures.number(status, "RssAnon:"));
    assertEquals(7, ProcessFigures.number(status, "Threads:"));
  }

  @Test
  void aKernelThatKeepsNoSuchNumberIsTold() {
    IOException e =
        assertThrows(
            IOException.class, () -> ProcessFigures.number(List.of("Name:\tjava"), "RssAnon:"));
    assertTrue(e.getMessage().contains("RssAnon:"), e.getMessage());
  }

  @Test
  void thisProcessHoldsSomething() {
    ProcessFigures figures = ProcessFigures.of(ProcessHandle.current().pid());
    assertTrue(figures.memoryBytes() > 1 << 20, figures.toString());
    assertTrue(figures.descriptors() >= 3, figures.toString());
    assertTrue(figures.mappings() > 10, figures.toString());
    assertTrue(figures.threads() >= 2, figures.toString());
  }
}
