package io.erda.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.Status;
import io.erda.rdma.Work;
import org.junit.jupiter.api.Test;

final class PostedWorkTest {
  private final PostedWork work = new PostedWork(Work.writeImm().id(1).local(null, 0, 64), null);

  @Test
  void whatWasStoppedStaysStopped() {
    work.issue();
    work.stop();
    assertThrows(AssertionError.class, work::arrive);
    work.tear(-1);
    work.stop();
    assertTrue(work.isStopped());
    assertFalse(work.isAwaited());
  }

  @Test
  void whatIsHeldDoesNotArrive() {
    assertThrows(AssertionError.class, work::arrive);
    assertThrows(AssertionError.class, work::cutOff);
  }

  @Test
  void tornWorkLandsInPartAndIsNoMessage() {
    work.issue();
    work.cutOff();
    work.tear(0b01);
    work.arrive();
    Pieces pieces = work.cut(2, 0);
    work.ready();
    assertTrue(pieces.isLeft(0));
    assertFalse(pieces.isLeft(1));
    assertFalse(work.isReady());
    assertTrue(work.isDropped());
  }

  @Test
  void itsPosterHearsOfItOnce() {
    work.issue();
    work.arrive();
    work.complete(Status.SUCCESS);
    work.goUnheard();
    assertEquals(Status.SUCCESS, work.status());
    assertThrows(AssertionError.class, () -> work.complete(Status.SUCCESS));
  }

  @Test
  void whatIsUnheardDoesNotComplete() {
    work.issue();
    work.goUnheard();
    assertEquals(Status.FLUSHED, work.status());
    assertThrows(AssertionError.class, () -> work.complete(Status.SUCCESS));
  }

  @Test
  void aRefusalIsWhatItsPosterHears() {
    work.issue();
    work.arrive();
    work.refuseRest();
    work.complete(Status.SUCCESS);
    assertEquals(Status.REMOTE_ACCESS, work.status());
  }
}
