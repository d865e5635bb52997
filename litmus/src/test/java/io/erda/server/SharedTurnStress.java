package io.erda.server;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A thread that shares the turn of an embedded store, and one that takes it alone. Each stores to a
 * plain field and loads the field of the other one, so both would load 0 if they were in the turn
 * together.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "the one that shares was first")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the one that is alone was first")
@Outcome(id = "-1, 0", expect = Expect.ACCEPTABLE, desc = "the turn was taken")
@Outcome(expect = Expect.FORBIDDEN, desc = "both were in the turn")
@State
public class SharedTurnStress {
  private final StepTurn turn = new StepTurn(System::nanoTime);
  private final StepTurn.Sharer sharer =
      new StepTurn.Sharer() {
        @Override
        void takeNote() {}

        @Override
        boolean isGone() {
          return false;
        }
      };

  private int ofSharer;
  private int ofOther;

  public SharedTurnStress() {
    turn.take();
    turn.add(sharer);
    turn.release();
  }

  @Actor
  public void shares(II_Result result) {
    if (sharer.enter(turn)) {
      ofSharer = 1;
      result.r1 = ofOther;
      sharer.leave();
    } else {
      result.r1 = -1;
    }
  }

  @Actor
  public void takes(II_Result result) {
    turn.take();
    ofOther = 1;
    result.r2 = ofSharer;
    turn.release();
  }
}
