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

  TurnSteps(ServerCore core, StepTurn turn) {
    super(core);
    this.turn = turn;
  }

  @Override
  int doWork() {
    turn.take();
    int work;
    try {
      work = super.doWork();
    } catch (Throwable e) {
      turn.fail(e);
      throw e;
    }
    return turn.release() ? Math.max(1, work) : work;
  }

  @Override
  boolean mayPoll() {
    return !core.didOthersWork();
  }

  @Override
  Map<String, Long> figures() {
    turn.take();
    try {
      return super.figures();
    } catch (Throwable e) {
      turn.fail(e);
      throw e;
    } finally {
      // It does not matter whether a step was requested in the meantime, because the server's
      // thread, which calls this, takes a step before it sleeps.
      if (turn.failure == null) {
        turn.release();
      }
    }
  }

  @Override
  long arm() {
    turn.take();
    long sleepNs;
    try {
      sleepNs = super.arm();
    } catch (Throwable e) {
      turn.fail(e);
      throw e;
    }
    return turn.release() ? 0 : sleepNs;
  }

  @Override
  void change(Supplier<ServerCore> next) {
    turn.take();
    try {
      super.change(next);
    } catch (Throwable e) {
      turn.fail(e);
      throw e;
    }
    turn.release();
  }

  @Override
  void end() {
    turn.end();
  }
}
