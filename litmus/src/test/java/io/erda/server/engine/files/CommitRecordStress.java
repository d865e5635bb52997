package io.erda.server.engine.files;

import io.erda.protocol.Commits;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A client that stores two records, one after the other, and a server that has made the turn odd
 * and looks which one stands: one of both as a whole, or none.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "none")
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "the first")
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "the second")
@Outcome(expect = Expect.FORBIDDEN, desc = "parts of both")
@State
public class CommitRecordStress {
  private static final int LINE = HeapCommits.LINE;

  private final CommitsFile file = HeapCommits.take(1);

  @Actor
  public void commits() {
    MemorySegment memory = file.memory().segment();
    long line = Commits.line(LINE);
    Commits.stand(memory, line, 1, 1, 1, 1, 1, 1);
    Commits.clear(memory, line);
    Commits.stand(memory, line, 2, 2, 2, 2, 2, 2);
  }

  @Actor
  public void looks(I_Result result) {
    CommitsFile.Standing found = file.standing(LINE);
    result.r1 = found == null ? 0 : numberOf(found);
  }

  /** The number that all parts have; −1 when they have different ones. */
  private static int numberOf(CommitsFile.Standing found) {
    int number = (int) found.serial();
    return found.equals(
            new CommitsFile.Standing(LINE, number, number, number, number, number, number))
        ? number
        : -1;
  }
}
