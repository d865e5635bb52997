package io.erda.server.engine.service;

import io.erda.rdma.Device;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.publishing.Syncs;
import io.erda.server.engine.store.StoreFailures;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * The helpers and listeners of a {@link ServerCore}, besides its store and its devices. The core
 * borrows all of them.
 *
 * @param files does the slow work on files
 * @param syncs waits for the device when the store drains to one ({@link
 *     io.erda.server.engine.store.StoreEngine#waitsForDevice})
 * @param loss returns why the store is no longer found by its name, and null while it is found. It
 *     is called often; after a loss the store is read-only
 * @param listener receives the events of clients, cleanings and resizings
 * @param failing is called when the store takes no more puts and deletes
 * @param abandoned devices that the store is not served on, where clients of earlier servers may
 *     live
 * @param turn the turns in which threads of devices handle requests
 * @param crowded whether there is no memory for another client
 * @param pause lets some nanoseconds pass, within a step that waits for a client
 */
public record CoreSurroundings(
    FileWork files,
    Syncs syncs,
    Supplier<Loss> loss,
    ServiceListener listener,
    StoreFailures.Listener failing,
    List<Device> abandoned,
    Turn turn,
    BooleanSupplier crowded,
    LongConsumer pause) {
  /** The server's thread does all work, and no listener is called. */
  public static final CoreSurroundings NONE =
      new CoreSurroundings(
          FileWork.AT_ONCE,
          Syncs.AT_ONCE,
          () -> null,
          ServiceListener.NONE,
          StoreFailures.Listener.NONE,
          List.of(),
          Turn.NONE,
          () -> false,
          LockSupport::parkNanos);

  public CoreSurroundings {
    abandoned = List.copyOf(abandoned);
  }

  public CoreSurroundings withSyncs(Syncs other) {
    return new CoreSurroundings(
        files, other, loss, listener, failing, abandoned, turn, crowded, pause);
  }

  public CoreSurroundings withListener(ServiceListener other) {
    return new CoreSurroundings(
        files, syncs, loss, other, failing, abandoned, turn, crowded, pause);
  }

  public CoreSurroundings withFailing(StoreFailures.Listener other) {
    return new CoreSurroundings(
        files, syncs, loss, listener, other, abandoned, turn, crowded, pause);
  }

  public CoreSurroundings withTurn(Turn other) {
    return new CoreSurroundings(
        files, syncs, loss, listener, failing, abandoned, other, crowded, pause);
  }

  public CoreSurroundings withCrowded(BooleanSupplier other) {
    return new CoreSurroundings(
        files, syncs, loss, listener, failing, abandoned, turn, other, pause);
  }

  public CoreSurroundings withPause(LongConsumer other) {
    return new CoreSurroundings(
        files, syncs, loss, listener, failing, abandoned, turn, crowded, other);
  }

  public CoreSurroundings withAbandoned(List<Device> other) {
    return new CoreSurroundings(files, syncs, loss, listener, failing, other, turn, crowded, pause);
  }
}
