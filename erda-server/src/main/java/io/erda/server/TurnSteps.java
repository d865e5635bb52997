package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The steps of a server's thread beside threads of clients or devices, which take some, too: it
 * takes each in a {@link StepTurn}. Only the server's thread calls these methods.
 */
class TurnSteps extends Steps {
  protected final StepTurn turn;

  // Made before any turn. Where there was no memory for one of them, the turn was lost.
  private final Supplier<Integer> ownWork = super::doWork;
  private final Supplier<Map<String, Long>> ownFigures = super::figures;
  private final Supplier<Long> ownArm = super::arm;

  TurnSteps(ServerCore core, StepTurn turn) {
    super(core);
    this.turn = turn;
    turn.surround(of(core));
  }

  /** In a turn clients of other processes do not commit by themselves. */
  private static StepTurn.Surroundings of(ServerCore core) {
    return new StepTurn.Surroundings() {
      @Override
      public void begin() {
        core.beginTurn();
      }

      @Override
      public void end() {
        core.endTurn();
      }
    };
  }

  @Override
  int doWork() {
    if (!core.mayHaveWork()) {
      // A turn would keep clients from committing for nothing.
      return 0;
    }
    turn.take();
    int work = inTurn(ownWork);
    return turn.release() ? Math.max(1, work) : work;
  }

  @Override
  boolean mayPoll() {
    return !core.didOthersWork();
  }

  /**
   * It does not matter whether a step was requested in the meantime, because the server's thread
   * takes a step before it sleeps.
   */
  @Override
  Map<String, Long> figures() {
    turn.take();
    Map<String, Long> figures = inTurn(ownFigures);
    turn.release();
    return figures;
  }

  @Override
  long arm() {
    turn.take();
    long sleepNs = inTurn(ownArm);
    return turn.release() ? 0 : sleepNs;
  }

  @Override
  void change(Supplier<ServerCore> next) {
    Supplier<Boolean> changing =
        () -> {
          super.change(next);
          turn.surround(of(core));
          return true;
        };
    turn.take();
    inTurn(changing);
    turn.release();
  }

  /** Does work in the turn, which is never released when the work fails. */
  private <T> T inTurn(Supplier<T> work) {
    try {
      return work.get();
    } catch (Throwable e) {
      turn.fail(e);
      throw e;
    }
  }

  @Override
  void end() {
    turn.end();
  }
}
