package io.erda.server.engine.files;

import io.erda.protocol.Commits;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A client that commits, and a server that begins a step. Each stores to a plain field and loads
 * the field of the other one, so both would load 0 if the client swapped its word during the step.
 * A server that meets a record begins no step.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "the client was first")
@Outcome(id = "0, -1", expect = Expect.ACCEPTABLE, desc = "the server met the record of a commit")
@Outcome(id = "-1, 0", expect = Expect.ACCEPTABLE, desc = "the client saw the turn")
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "each saw the other one")
@Outcome(expect = Expect.FORBIDDEN, desc = "a commit within a step, or one that a step forgot")
@State
public class CommitTurnStress {
  private static final int LINE = HeapCommits.LINE;
  private static final long TURN = 2;

  private final CommitsFile file = HeapCommits.take(TURN);

  private int ofClient;
  private int ofServer;

  @Actor
  public void commits(II_Result result) {
    MemorySegment memory = file.memory().segment();
    long line = Commits.line(LINE);
    if (Commits.stand(memory, line, 1, 2, 3, 4, 5, 6) == TURN) {
      ofClient = 1;
      result.r1 = ofServer;
    } else {
      result.r1 = -1;
    }
    Commits.clear(memory, line);
  }

  @Actor
  public void begins(II_Result result) {
    file.storeTurn(TURN + 1);
    if (file.serial(LINE) == 0) {
      ofServer = 1;
      result.r2 = ofClient;
    } else {
      result.r2 = -1;
    }
  }
}
