package io.erda.simulation.system;

import io.erda.protocol.ErdaException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** The medium changes under a store that was stopped; the next process has to notice. */
final class MediumDamage implements StoreUnderTest.ClientEvents {
  private static final long STEP_NS = 1000;
  private static final int PAGE_BYTES = 4096;

  private final World world;
  private final ServerHost host;
  private final SplittableRandom random;
  private final Map<String, byte[]> kept = new HashMap<>();
  private final List<String> findings = new ArrayList<>();
  private boolean keyNamed;
  private boolean ended;
  private MemorySegment got;
  private RuntimeException refused;

  MediumDamage(World world, ServerHost host) {
    this.world = world;
    this.host = host;
    this.random = world.doors.split();
  }

  void strike() {
    world.disk.onDrain(() -> {});
    Fault kind = random.nextInt(4) == 0 ? Fault.FILE_CUT : Fault.BYTE_CORRUPTED;
    if (!world.mayHappen(kind) || random.nextBoolean()) {
      return;
    }
    host.endForDamage();
    if (random.nextInt(3) == 0) {
      strikeFile();
      return;
    }
    int key = random.nextInt(world.configuration.keys());
    try {
      StoreView.Place place =
          random.nextInt(3) > 0 ? world.view.committed(world.workload.key(key)) : null;
      if (kind == Fault.FILE_CUT) {
        cut();
        inspect(-1);
      } else if (place != null && random.nextBoolean() && misplace(key, place)) {
        inspect(key);
      } else if (place != null) {
        world.disk.corrupt(place.file(), place.offset() + random.nextInt(place.bytes()), bits());
        world.happened(kind);
        inspect(key);
      } else {
        corruptAnything();
        inspect(-1);
      }
    } catch (IOException e) {
      world.fail(World.describe(e));
    }
  }

  /** More than a byte goes wrong: what was opened has to be refused in order, or to be served. */
  private void strikeFile() {
    try {
      switch (random.nextInt(4)) {
        case 0 -> zero();
        case 1 -> {
          if (world.mayHappen(Fault.FILE_MISSING)) {
            world.happened(Fault.FILE_MISSING);
            world.disk.lose(anyFile());
          }
        }
        default -> putBack();
      }
      inspect(-1);
    } catch (IOException e) {
      world.fail(World.describe(e));
    }
  }

  private void zero() throws IOException {
    if (!world.mayHappen(Fault.ZEROED)) {
      return;
    }
    String name = anyFile();
    int unit = random.nextBoolean() ? Long.BYTES : PAGE_BYTES;
    long length = Math.min(world.disk.length(name), 1 << random.nextInt(13, 20));
    long at = random.nextLong((length + unit - 1) / unit) * unit;
    world.happened(Fault.ZEROED);
    for (long i = at; i < Math.min(length, at + unit); i++) {
      set(name, i, 0);
    }
  }

  private void set(String name, long at, int value) throws IOException {
    int there = world.disk.image(name).get(ValueLayout.JAVA_BYTE, at);
    world.disk.corrupt(name, at, there ^ value);
  }

  /** Keeps what the structures of the store are now, to be put back at the end. */
  void keep() {
    for (String name : world.disk.names()) {
      if (!name.startsWith("region-")) {
        kept.put(name, world.disk.image(name).toArray(ValueLayout.JAVA_BYTE));
      }
    }
  }

  private void putBack() throws IOException {
    List<String> names = world.disk.names().stream().filter(kept::containsKey).toList();
    if (!world.mayHappen(Fault.FILE_OLDER) || names.isEmpty()) {
      return;
    }
    String name = names.get(random.nextInt(names.size()));
    byte[] older = kept.get(name);
    if (older.length == world.disk.length(name)) {
      world.happened(Fault.FILE_OLDER);
      for (int i = 0; i < older.length; i++) {
        set(name, i, older[i]);
      }
    }
  }

  private int bits() {
    return random.nextBoolean() ? 1 << random.nextInt(8) : 1 + random.nextInt(255);
  }

  private String anyFile() {
    List<String> names = world.disk.names();
    return names.get(random.nextInt(names.size()));
  }

  private void cut() throws IOException {
    String name = anyFile();
    world.happened(Fault.FILE_CUT);
    world.disk.setLength(name, random.nextLong(world.disk.length(name)));
  }

  /** Where a key has an older version that fits: the medium puts it where the newest one lies. */
  private boolean misplace(int key, StoreView.Place place) throws IOException {
    StoreView.Place older = world.view.older(world.workload.key(key));
    if (!world.configuration.faults().contains(Fault.OBJECT_MISPLACED)
        || older == null
        || older.equals(place)
        || place.offset() + older.bytes() > world.disk.length(place.file())) {
      return false;
    }
    world.happened(Fault.OBJECT_MISPLACED);
    byte[] bytes =
        world
            .disk
            .image(older.file())
            .asSlice(older.offset(), older.bytes())
            .toArray(ValueLayout.JAVA_BYTE);
    for (int i = 0; i < bytes.length; i++) {
      int there = world.disk.image(place.file()).get(ValueLayout.JAVA_BYTE, place.offset() + i);
      world.disk.corrupt(place.file(), place.offset() + i, there ^ bytes[i]);
    }
    return true;
  }

  private void corruptAnything() throws IOException {
    String name = anyFile();
    world.happened(Fault.BYTE_CORRUPTED);
    long length = world.disk.length(name);
    world.disk.corrupt(
        name, random.nextLong(random.nextBoolean() ? Math.min(length, 8192) : length), bits());
  }

  /**
   * @param damaged the key whose committed object was hit, or -1
   */
  private void inspect(int damaged) throws IOException {
    StoreUnderTest.Server core;
    try {
      core =
          host.startDamaged(
              random.split(),
              (key, what) -> {
                findings.add(what);
                keyNamed |=
                    damaged >= 0
                        && key != null
                        && world.workload.key(damaged).mismatch(MemorySegment.ofArray(key)) < 0;
              });
    } catch (ErdaException e) {
      // It says what is wrong and refuses to serve.
      return;
    } catch (RuntimeException | AssertionError e) {
      world.fail("a damaged store is not refused in order: " + World.describe(e));
      return;
    }
    if (damaged >= 0 && findings.isEmpty()) {
      world.fail("verify does not find the damage of key " + damaged);
    } else if (damaged >= 0 && !keyNamed) {
      world.fail("verify finds " + findings + " and does not name key " + damaged);
    } else {
      getAll(core, damaged);
    }
  }

  private void getAll(StoreUnderTest.Server core, int damaged) {
    StoreUnderTest.Client client =
        world.store.connect(
            world.network.device("client of a damaged store"), World.ADDRESS, world.time, this);
    world.onEnd(client::release);
    for (int key = 0; key < world.configuration.keys() && !world.failed(); key++) {
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
        core.doWork();
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
