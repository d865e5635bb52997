package io.erda.torture;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.OperationKind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/**
 * Calls with several keys: each key is a separate operation, which begins and ends with the call.
 * One thread at a time.
 */
final class SeveralKeys {
  private static final int KEYS_MAX = 8;

  /** How many keys are under way together, and so wait together. */
  private static final int TOGETHER = Watchdog.OPTIONS.pipelineDepth();

  private final ClientLog log;
  private final Watchdog.Watch watch;
  private final MemorySegment[] memory = new MemorySegment[KEYS_MAX];

  SeveralKeys(ClientLog log, Watchdog.Watch watch) {
    this.log = log;
    this.watch = watch;
    Arena arena = Arena.ofAuto();
    for (int i = 0; i < KEYS_MAX; i++) {
      memory[i] = arena.allocate(TortureValue.BYTES_MAX, 8);
    }
  }

  /**
   * Does one call.
   *
   * @param operation the operation on each key; a condition is dropped, because there is no such
   *     call
   * @param keys that are in use now
   */
  ClientLog.Outcome call(
      ErdaClient erda, OperationKind operation, SplittableRandom random, int keys) {
    OperationKind each =
        switch (operation) {
          case GET -> OperationKind.GET;
          case PUT, PUT_IF -> OperationKind.PUT;
          case DELETE, DELETE_IF -> OperationKind.DELETE;
        };
    ClientLog.Begun[] begun = new ClientLog.Begun[random.nextInt(1, KEYS_MAX + 1)];
    MemorySegment[] of = new MemorySegment[begun.length];
    for (int i = 0; i < begun.length; i++) {
      begun[i] = log.begin(each, Pace.key(random, keys));
      of[i] = log.key(begun[i].key());
    }
    int groups = (begun.length + TOGETHER - 1) / TOGETHER;
    watch.begin(each + " of several keys", groups * Watchdog.OPERATION_NS);
    try {
      ClientLog.Outcome outcome = run(erda, each, begun, of);
      Tally.count(Tally.SEVERAL);
      return outcome;
    } catch (WrongThreadException e) {
      return withoutEffect(begun, ClientLog.Outcome.NOT_OWNED);
    } catch (IllegalStateException e) {
      return withoutEffect(begun, ClientLog.Outcome.CLOSED);
    } finally {
      watch.end();
    }
  }

  private ClientLog.Outcome run(
      ErdaClient erda, OperationKind each, ClientLog.Begun[] begun, MemorySegment[] of) {
    ErdaException[] errors = new ErdaException[begun.length];
    long[] lengths = new long[begun.length];
    boolean[] existed = new boolean[begun.length];
    MemorySegment[] values = new MemorySegment[begun.length];
    for (int i = 0; i < begun.length; i++) {
      values[i] =
          each == OperationKind.PUT
              ? memory[i].asSlice(0, TortureValue.fill(begun[i].id(), memory[i]))
              : memory[i];
    }
    switch (each) {
      case GET -> erda.getAll(of, values, lengths, errors);
      case PUT -> erda.putAll(of, values, errors);
      default -> erda.deleteAll(of, existed, errors);
    }
    ClientLog.Outcome all = ClientLog.Outcome.DONE;
    for (int i = 0; i < begun.length; i++) {
      ClientLog.Outcome outcome;
      if (errors[i] != null) {
        outcome = log.failed(begun[i], errors[i]);
      } else if (each == OperationKind.GET) {
        outcome = log.got(begun[i], values[i], lengths[i]);
      } else {
        outcome = log.done(begun[i], existed[i] ? 1 : 0);
      }
      all = all == ClientLog.Outcome.FAILED ? all : outcome;
    }
    return all;
  }

  private ClientLog.Outcome withoutEffect(ClientLog.Begun[] begun, ClientLog.Outcome outcome) {
    for (ClientLog.Begun it : begun) {
      log.withoutEffect(it);
    }
    return outcome;
  }
}
