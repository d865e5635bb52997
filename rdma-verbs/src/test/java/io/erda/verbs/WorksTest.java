package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import org.junit.jupiter.api.Test;

/** Tests which completions of work are reported, and in which order. */
class WorksTest {
  private final Works works = new Works();
  private final Recorder recorder = new Recorder();

  @Test
  void workIsReportedInTheOrderPosted() {
    long first = works.add(Work.read().id(1).local(null, 0, 8), Flags.SIGNALED, -1, false);
    long second = works.add(Work.write().id(2).local(null, 0, 16), Flags.SIGNALED, -1, true);
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
    works.end(
        works.add(Work.write().id(1).local(null, 0, 8), Flags.NONE, -1, true), Status.SUCCESS);

    assertFalse(works.hasReport());
    assertTrue(works.hasRoom(Works.CAPACITY));
  }

  private long addPair() {
    long write = works.add(Work.writeImm().id(7).local(null, 0, 8), Flags.NONE, -1, true);
    works.follow(works.add(Work.writeImm().id(7).local(null, 0, 8), Flags.SIGNALED, 3, false));
    return write;
  }

  private void reportAll() {
    while (works.hasReport()) {
      works.report(recorder);
    }
  }
}
