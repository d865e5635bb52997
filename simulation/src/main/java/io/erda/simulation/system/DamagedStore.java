package io.erda.simulation.system;

import io.erda.protocol.ErdaException;
import io.erda.server.engine.files.StoreFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A store whose medium may have changed since its last process ended: checks the report of an
 * inspection, the end of an opening, and the results of getting every key.
 */
final class DamagedStore implements StoreUnderTest.ClientEvents {
  private static final long STEP_NS = 1000;
  private static final String RECORD = StoreFiles.STOPPED;

  private final World world;
  private final ServerHost host;
  private final SplittableRandom random;
  private final List<String> findings = new ArrayList<>();
  private final boolean[] named;

  /** Each key's value before the store was stopped; null when a key has none. */
  private final byte[][] truth;

  /** Whether damage was found whose key is unknown. */
  private boolean unnamed;

  private boolean ended;
  private MemorySegment got;
  private RuntimeException refused;

  DamagedStore(World world, ServerHost host, SplittableRandom random) {
    this.world = world;
    this.host = host;
    this.random = random;
    truth = new byte[world.configuration.keys()][];
    named = new boolean[world.configuration.keys()];
  }

  private void found(byte[] key, String what) {
    findings.add(what);
    boolean known = false;
    for (int i = 0; key != null && i < named.length && !known; i++) {
      known = world.workload.key(i).mismatch(MemorySegment.ofArray(key)) < 0;
      named[i] |= known;
    }
    unnamed |= !known;
  }

  /** Notes the value of every key, from the living server; there are no faults now. */
  void noteTruth() {
    StoreUnderTest.Client client = connect();
    for (int key = 0; key < truth.length && !world.failed(); key++) {
      get(null, client, key);
      if (refused != null) {
        world.fail("all is well, and a client was told: " + refused);
      }
      truth[key] = got == null ? null : got.toArray(ValueLayout.JAVA_BYTE);
    }
    client.close();
  }

  /** Whether the process that ended left a record of its stop. */
  boolean hasRecord() {
    return world.disk.image(RECORD) != null;
  }

  /**
   * Requires that an inspection finds nothing and every value can be read, because nothing has
   * changed since the store was stopped.
   */
  void requireSound() throws IOException {
    requireAccounted(-1, "nothing");
    if (!world.failed() && !findings.isEmpty()) {
      world.fail("a store that was stopped is found damaged, and is not: " + findings);
    }
  }

  /**
   * Requires that damage is noticed: one thing has changed since the store was stopped in order.
   * Its tables were proven then, and its objects have checksums: so no get may return a wrong
   * value, and an inspection must report each key whose get fails.
   *
   * @param damaged the key whose committed object was hit, or -1
   * @param fault what has changed, for messages
   */
  void requireAccounted(int damaged, String fault) throws IOException {
    boolean inspected = inspect(fault);
    StoreUnderTest.Server core = world.failed() ? null : open(true);
    if (world.failed()) {
      return;
    }
    if (core == null) {
      if (inspected && findings.isEmpty()) {
        world.fail(fault + ": an inspection finds nothing, and an opening is refused: " + refused);
      }
      return;
    }
    if (!inspected) {
      world.fail(fault + ": an inspection is refused, and the store is opened");
      return;
    }
    if (damaged >= 0 && !named[damaged]) {
      world.fail(fault + ": an inspection finds " + findings + ", and not key " + damaged);
      return;
    }
    StoreUnderTest.Client client = connect();
    for (int key = 0; key < truth.length && !world.failed(); key++) {
      get(core, client, key);
      if (refused != null && !isNamed(key) && !unnamed) {
        world.fail(
            fault
                + ": a get of key "
                + key
                + " is refused, and what is found is "
                + findings
                + ": "
                + refused);
      } else if (refused == null) {
        requireTruth(key, fault);
      }
    }
  }

  /**
   * Twins share a key word. A look-up of a key without a value finds the damaged object of the
   * other; no entry and no object has the first key, so only the other is named. And when the only
   * object of one is damaged, and older objects of the other are left, which has no value any more,
   * the other is named instead (docs/consistency.md).
   */
  private boolean isNamed(int key) {
    int twin = key ^ 1;
    return named[key]
        || (world.configuration.twins()
            && twin < named.length
            && named[twin]
            && (truth[key] == null || truth[twin] == null));
  }

  private void requireTruth(int key, String fault) {
    byte[] value = got == null ? null : got.toArray(ValueLayout.JAVA_BYTE);
    if (!Arrays.equals(value, truth[key])) {
      world.fail(
          "%s: key %d was %s when the store was stopped, and a get finds %s; found: %s"
              .formatted(fault, key, text(truth[key]), text(value), findings));
    }
  }

  private static String text(byte[] value) {
    return value == null ? "absent" : "a value of " + value.length + " bytes";
  }

  /**
   * Inspects the store. Returns whether there is a verdict; false when a structure of the store
   * can't be read.
   */
  private boolean inspect(String fault) {
    try {
      host.inspectCopy(this::found);
      return true;
    } catch (ErdaException e) {
      return false;
    } catch (IOException | RuntimeException | AssertionError e) {
      world.fail(fault + ": an inspection does not end in order: " + World.describe(e));
      return false;
    }
  }

  /**
   * Opens the store unchanged, after a process that was killed.
   *
   * @param damaged the key whose committed object was hit, or -1
   */
  void requireNamed(int damaged) throws IOException {
    StoreUnderTest.Server core = open(false);
    if (core == null) {
      // The opening fails and reports the reason.
      return;
    }
    if (damaged >= 0 && findings.isEmpty()) {
      world.fail("verify does not find the damage of key " + damaged);
    } else if (damaged >= 0 && !named[damaged]) {
      world.fail("verify finds " + findings + " and does not name key " + damaged);
    } else {
      getAll(core, damaged);
    }
  }

  /**
   * Opens the store. Returns null when that is refused.
   *
   * @param inspected whether the inspection has reported what the opening finds
   */
  private StoreUnderTest.Server open(boolean inspected) throws IOException {
    try {
      return host.startDamaged(random.split(), inspected ? (key, what) -> {} : this::found);
    } catch (ErdaException e) {
      refused = e;
      return null;
    } catch (RuntimeException | AssertionError e) {
      world.fail("a damaged store is not refused in order: " + World.describe(e));
      return null;
    }
  }

  private StoreUnderTest.Client connect() {
    StoreUnderTest.Client client =
        world.store.connect(
            world.network.device("client of a damaged store"), World.ADDRESS, world.time, this);
    world.onEnd(client::release);
    return client;
  }

  private void getAll(StoreUnderTest.Server core, int damaged) {
    StoreUnderTest.Client client = connect();
    for (int key = 0; key < truth.length && !world.failed(); key++) {
      get(core, client, key);
      if (got != null) {
        world.workload.identify(got);
      }
      if (key == damaged && refused == null) {
        world.fail(
            "the damaged object of key "
                + key
                + " was taken for "
                + (got == null ? "absent" : "a value of " + got.byteSize() + " bytes"));
      }
    }
  }

  /**
   * @param core the server to step with the client; null when the server steps by itself
   */
  private void get(StoreUnderTest.Server core, StoreUnderTest.Client client, int key) {
    ended = false;
    got = null;
    refused = null;
    if (!client.get(key, world.workload.key(key))) {
      world.fail("an idle client takes no get");
      return;
    }
    long deadline = world.time.nowNs() + World.PATIENCE_NS;
    while (!ended && world.time.nowNs() < deadline) {
      try {
        if (core != null) {
          core.doWork();
        }
        client.doWork();
      } catch (RuntimeException | AssertionError e) {
        world.fail("with a damaged store: " + World.describe(e));
        return;
      }
      world.time.runFor(STEP_NS);
    }
    if (!ended) {
      world.fail("a get of a damaged store never ends: key " + key);
    }
  }

  @Override
  public void got(long token, MemorySegment value) {
    ended = true;
    got = value == null ? null : MemorySegment.ofArray(value.toArray(ValueLayout.JAVA_BYTE));
  }

  @Override
  public void done(long token) {
    ended = true;
  }

  @Override
  public void compared(long token, boolean done) {
    throw new AssertionError("nobody asked for it");
  }

  @Override
  public void deleted(long token, boolean existed) {
    ended = true;
  }

  @Override
  public void failed(long token, RuntimeException why) {
    ended = true;
    refused = why;
  }

  @Override
  public void unknown(long token, boolean last, RuntimeException why) {
    failed(token, why);
  }

  @Override
  public void broken(long token, RuntimeException why) {
    failed(token, why);
  }
}
