package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WorkTest {
  @Test
  void whatAnOpcodeNeedsHasToBeThere() {
    assertFalse(Work.read().isWellFormed(), "no local memory");
    assertFalse(Work.compareAndSwap().isWellFormed(), "no local memory");
    assertTrue(Work.flush().remote(1, 0, 64).isWellFormed());
    assertTrue(Work.atomicWrite().remote(1, 8).value(3).isWellFormed());
    assertFalse(Work.atomicWrite().remote(1, 8, 16).isWellFormed(), "more than a word");
    Work work = Work.flush();
    work.flags = 4;
    assertFalse(work.isWellFormed(), "a flag that is none");
    work.flags = Flags.SIGNALED | Flags.FENCE;
    work.opcode = Opcode.RECEIVE;
    assertFalse(work.isWellFormed(), "an opcode that is not posted");
  }

  @Test
  void allFieldsAreSetToThoseOfAnother() {
    Work work =
        Work.compareAndSwap().id(1).signaled().fenced().remote(2, 3).imm(4).expected(5).value(6);
    Work copy = Work.send().set(work);
    assertEquals(work.toString(), copy.toString());
    assertEquals(4, copy.imm);
    assertEquals(5, copy.expected);
    assertEquals(6, copy.value);
  }
}
