package io.erda.launcher.torture;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Calls blocking clients and writes down what came of it. One thread at a time. */
final class BlockingCaller implements AutoCloseable {
  private final ClientLog log;
  private final Watchdog.Watch watch;
  private final MemorySegment found = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);

  /**
   * @param files directory of the histories
   * @param client its number there
   */
  BlockingCaller(Path files, int client, int keyCount, Watchdog watchdog) throws IOException {
    this.log = new ClientLog(files, client, keyCount);
    this.watch = watchdog.watch();
  }

  /** Does one operation. */
  ClientLog.Outcome call(ErdaClient erda, Operation operation, int key) {
    int number = log.begin(operation, key);
    watch.begin(operation.name(), Watchdog.OPERATION_NS);
    try {
      return switch (operation) {
        case GET -> log.got(number, key, found, erda.get(log.key(key), found));
        case PUT -> {
          erda.put(log.key(key), log.value());
          yield log.done(number, 0);
        }
        case DELETE -> log.done(number, erda.delete(log.key(key)) ? 1 : 0);
        // The log of a history has no room for what is expected.
        case PUT_IF, DELETE_IF -> throw new IllegalArgumentException(operation.name());
      };
    } catch (ErdaException e) {
      return log.failed(number, operation, key, e);
    } catch (WrongThreadException e) {
      log.withoutEffect(number);
      return ClientLog.Outcome.NOT_OWNED;
    } catch (IllegalStateException e) {
      log.withoutEffect(number);
      return ClientLog.Outcome.CLOSED;
    } finally {
      watch.end();
    }
  }

  @Override
  public void close() throws IOException {
    log.close();
  }
}
