package io.erda.simulation.system;

import io.erda.simulation.history.History;
import io.erda.simulation.history.Operation;
import java.lang.foreign.MemorySegment;

/**
 * An iteration of one client over the store, as the history knows it: a get of each key that begins
 * with the iteration. That of a key that was given ends then, with its value; those of all others
 * end with the iteration, and found nothing. So what an iteration promises is that all of these
 * gets are linearizable, and that no key is given twice: a key that had a value all the while can't
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
      gets[key] = workload.history.invoke(client, Operation.GET, key, 0);
    }
  }

  /** A key was given. */
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

  /** It came to its end. */
  void ended() {
    for (int get : gets) {
      if (get >= 0) {
        workload.history.ok(get, History.ABSENT);
      }
    }
  }

  /** It was given up: of the keys that were not given nothing is known. */
  void givenUp() {
    for (int get : gets) {
      if (get >= 0) {
        workload.history.failed(get);
      }
    }
  }
}
