package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import org.junit.jupiter.api.Test;

/** What is reported of work, and in which order. */
class WorksTest {
  private final Works works = new Works();
  private final Recorder recorder = new Recorder();

  @Test
  void workIsReportedInTheOrderPosted() {
    long first = works.add(1, Opcode.READ, Flags.SIGNALED, -1, false, 8);
    long second = works.add(2, Opcode.WRITE, Flags.SIGNALED, -1, true, 16);
    works.end(second, Status.SUCCESS);
    assertFalse(works.hasReport());

    works.end(first, Status.REMOTE_ACCESS);
    reportAll();

    assertEquals(
        new Recorder.Completion(1, Opcode.READ, Status.REMOTE_ACCESS, 0, 0), recorder.all.get(0));
    assertEquals(
        new Recorder.Completion(2, Opcode.WRITE, Status.SUCCESS, 16, 0), recorder.all.get(1));
  }

  @Test
  void aWriteAndItsMessageAreReportedOnceWhenTheConnectionEnds() {
    addPair();

    works.endAll(Status.FLUSHED);
    reportAll();

    assertEquals(1, recorder.all.size(), () -> recorder.all.toString());
    assertEquals(Status.FLUSHED, recorder.last().status());
  }

  @Test
  void aMessageThatFollowsAFailedWriteIsNotReported() {
    long write = addPair();

    works.end(write, Status.REMOTE_ACCESS);
    works.end(write + 1, Status.FLUSHED);
    reportAll();

    assertEquals(1, recorder.all.size(), () -> recorder.all.toString());
    assertEquals(Status.REMOTE_ACCESS, recorder.last().status());
  }

  @Test
  void aMessageThatFailsBehindAGoodWriteIsReported() {
    long write = addPair();

    works.end(write, Status.SUCCESS);
    works.end(write + 1, Status.FLUSHED);
    reportAll();

    assertEquals(1, recorder.all.size(), () -> recorder.all.toString());
    assertEquals(Status.FLUSHED, recorder.last().status());
  }

  @Test
  void whatIsNotSignaledIsNotReportedWhenItEndsWell() {
    works.end(works.add(1, Opcode.WRITE, Flags.NONE, -1, true, 8), Status.SUCCESS);

    assertFalse(works.hasReport());
    assertTrue(works.hasRoom(Works.CAPACITY));
  }

  private long addPair() {
    long write = works.add(7, Opcode.WRITE_IMM, Flags.NONE, -1, true, 8);
    works.follow(works.add(7, Opcode.WRITE_IMM, Flags.SIGNALED, 3, false, 8));
    return write;
  }

  private void reportAll() {
    while (works.hasReport()) {
      works.report(recorder);
    }
  }
}
