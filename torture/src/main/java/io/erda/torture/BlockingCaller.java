package io.erda.torture;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.History;
import io.erda.simulation.history.OperationKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Calls blocking clients and records the results. One thread at a time. */
final class BlockingCaller implements AutoCloseable {
  /** One in so many calls has several keys. */
  private static final int SEVERAL_ODDS = 16;

  /** One in so many calls is an iteration over all keys. */
  private static final int ITERATION_ODDS = 200;

  private final ClientLog log;
  private final Watchdog.Watch watch;
  private final MemorySegment found = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);
  private final SeveralKeys several;
  private final KeyIteration iteration;

  /**
   * @param files directory of the histories
   * @param client its number there
   */
  BlockingCaller(Path files, int client, int keyCount, Watchdog watchdog) throws IOException {
    this.log = new ClientLog(files, client, keyCount);
    this.watch = watchdog.watch();
    this.several = new SeveralKeys(log, watch);
    this.iteration = new KeyIteration(log, watch, keyCount);
  }

  /**
   * Does one step: mostly one operation, sometimes a call with several keys, or an iteration with
   * operations in between.
   *
   * @param keys that are in use now
   * @param readsOnly whether the client only gets and iterates
   */
  ClientLog.Outcome step(ErdaClient erda, SplittableRandom random, int keys, boolean readsOnly) {
    if (random.nextInt(ITERATION_ODDS) == 0) {
      return iteration.run(erda, random, keys, () -> one(erda, random, keys, readsOnly));
    }
    return random.nextInt(SEVERAL_ODDS) == 0
        ? several.call(erda, operation(random, readsOnly), random, keys)
        : one(erda, random, keys, readsOnly);
  }

  private ClientLog.Outcome one(
      ErdaClient erda, SplittableRandom random, int keys, boolean readsOnly) {
    return call(erda, operation(random, readsOnly), Pace.key(random, keys));
  }

  private static OperationKind operation(SplittableRandom random, boolean readsOnly) {
    return readsOnly ? OperationKind.GET : Pace.operation(random);
  }

  /** Does one operation. */
  ClientLog.Outcome call(ErdaClient erda, OperationKind operation, int key) {
    ClientLog.Begun it = log.begin(operation, key);
    watch.begin(operation.name(), Watchdog.OPERATION_NS);
    try {
      MemorySegment of = log.key(key);
      return switch (operation) {
        case GET -> log.got(it, found, erda.get(of, found));
        case PUT -> {
          erda.put(of, log.value(it));
          yield log.done(it, 0);
        }
        case DELETE -> log.done(it, erda.delete(of) ? 1 : 0);
        case PUT_IF -> log.done(it, putIf(erda, it) ? 1 : 0);
        case DELETE_IF -> log.done(it, erda.compareAndDelete(of, log.expected(it)) ? 1 : 0);
      };
    } catch (ErdaException e) {
      return log.failed(it, e);
    } catch (WrongThreadException e) {
      log.withoutEffect(it);
      return ClientLog.Outcome.NOT_OWNED;
    } catch (IllegalStateException e) {
      log.withoutEffect(it);
      return ClientLog.Outcome.CLOSED;
    } finally {
      watch.end();
    }
  }

  private boolean putIf(ErdaClient erda, ClientLog.Begun it) {
    MemorySegment key = log.key(it.key());
    return it.expected() == History.ABSENT
        ? erda.putIfAbsent(key, log.value(it))
        : erda.compareAndSet(key, log.expected(it), log.value(it));
  }

  @Override
  public void close() throws IOException {
    log.close();
  }
}
