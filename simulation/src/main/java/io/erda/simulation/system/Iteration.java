package io.erda.simulation.system;

import io.erda.simulation.history.History;
import io.erda.simulation.history.OperationKind;
import java.lang.foreign.MemorySegment;

/**
 * An iteration of one client over the store, recorded in the history as a get of each key that
 * begins with the iteration. The get of a key that was given ends at that time, with its value; the
 * others end with the iteration, and find nothing. So the promise of an iteration is that all these
 * gets are linearizable, and that no key is given twice: a key that had a value all the time can't
 * have been absent.
 */
final class Iteration {
  private final Workload workload;
  private final int client;

  /** The get of each key; −1 when it has ended. */
  private final int[] gets;

  Iteration(Workload workload, int client, int keys) {
    this.workload = workload;
    this.client = client;
    gets = new int[keys];
    for (int key = 0; key < keys; key++) {
      gets[key] = workload.history.invoke(client, OperationKind.GET, key, 0);
    }
  }

  /** Notes that a key was given. */
  void gave(MemorySegment keyBytes, MemorySegment value) {
    int key = workload.keyOf(keyBytes);
    if (key < 0) {
      workload.fail(
          "client " + client + " was given a key of " + keyBytes.byteSize() + " bytes of nobody's");
    } else if (gets[key] < 0) {
      workload.fail("client " + client + " was given key " + key + " twice in one iteration");
    } else {
      workload.history.ok(gets[key], workload.identify(value));
      gets[key] = -1;
    }
  }

  /** Notes the end of the iteration. */
  void ended() {
    for (int get : gets) {
      if (get >= 0) {
        workload.history.ok(get, History.ABSENT);
      }
    }
  }

  /**
   * Notes that the iteration was given up: the gets of keys that were not given have an unknown
   * outcome.
   */
  void givenUp() {
    for (int get : gets) {
      if (get >= 0) {
        workload.history.failed(get);
      }
    }
  }
}
