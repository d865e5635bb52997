package io.erda.simulation.system;

import java.util.SplittableRandom;

/** Injects faults while clients work, one after the other, by the seed. */
final class FaultInjector {
  /**
   * Number of faults that are injected here. {@link Fault#DRAIN_FAILED} and the later ones are
   * armed by the next opening.
   */
  private static final int FAULTS = Fault.DRAIN_FAILED.ordinal();

  private static final Fault[] ALL = Fault.values();

  private final World world;
  private final ServerHost host;
  private final ClientProcesses clients;

  FaultInjector(World world, ServerHost host, ClientProcesses clients) {
    this.world = world;
    this.host = host;
    this.clients = clients;
  }

  /** Schedules the next fault after a gap, and so on until faults end. */
  void nextFault() {
    world.time.after(
        1 + world.random.nextLong(2 * world.configuration.faultGapNs()),
        () -> {
          if (!world.healing) {
            Fault fault = ALL[world.random.nextInt(FAULTS)];
            if (world.mayHappen(fault)) {
              inject(fault);
            }
            host.stopUndrainedThenLosePower();
            nextFault();
          }
        });
  }

  private void inject(Fault fault) {
    SplittableRandom random = world.random;
    switch (fault) {
      case SERVER_CRASH -> host.crash();
      // It strikes while the server serves or while it starts, by chance.
      case SERVER_CRASH_IN_STORE, SERVER_CRASH_IN_RECOVERY -> host.crashSoon();
      case POWER_FAILURE -> host.loseWithPower();
      case SERVER_PAUSE -> {
        if (host.lives()) {
          world.happened(fault);
          // Now and then for longer than an operation may take.
          host.pause(random.nextLong(1L << random.nextInt(10, 30)));
        }
      }
      case SERVER_STOP -> host.stop();
      case CLIENT_CRASH -> clients.crashAny();
      case CLIENT_CLOSE -> clients.closeAny();
      case CLIENT_PAUSE -> {
        if (!clients.isEmpty()) {
          world.happened(fault);
          clients.any().node.pause(random.nextLong(1L << random.nextInt(10, 29)));
        }
      }
      case CLIENT_CRASH_IN_POST -> {
        if (!clients.isEmpty()) {
          clients.any().device.crashAfterPosts(1 + random.nextInt(1 << random.nextInt(1, 6)));
        }
      }
      case CLIENT_SLOW -> {
        if (!clients.isEmpty()) {
          world.happened(fault);
          clients
              .any()
              .node
              .slowDown(1 << random.nextInt(2, 12), random.nextLong(1L << random.nextInt(10, 26)));
        }
      }
      case CLIENT_GARBAGE -> clients.startGarbageSender();
      case COMPLETIONS_DELAYED -> {
        if (!clients.isEmpty()) {
          world.happened(fault);
          clients.any().device.holdCompletions(random.nextLong(1L << random.nextInt(8, 24)));
        }
      }
      case CONNECTION_LOSS -> {
        if (world.network.breakConnection(random)) {
          world.happened(fault);
        }
      }
      case DISK_FULL -> {
        if (host.lives()) {
          host.fillDisk(random.nextLong(1L << random.nextInt(14, 24)));
        }
      }
      case EMBEDDED_OPENING,
          PROMISE_RAISED,
          PROMISE_GIVEN_UP,
          INSPECTION,
          STORE_OF_THE_LEFT,
          KEYS_LOST,
          DRAIN_FAILED,
          REMOVAL_FAILED,
          CAPACITY_RAISED,
          CAPACITY_LOWERED,
          HANDLER_SUBMITS,
          HANDLER_THROWS -> {
        // The next opening, clients and their handlers inject these.
      }
      case LOG_FULL,
          TABLE_FULL,
          BYTE_CORRUPTED,
          OBJECT_MISPLACED,
          FILE_CUT,
          ZEROED,
          FILE_MISSING,
          FILE_OLDER -> {
        // The workload injects the first two, the end of the run the others.
      }
    }
  }
}
