package io.erda.simulation.system;

import io.erda.logstore.LogFiles;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The end of the last process, and a change of its medium afterwards, which the next process has to
 * notice. A process that was killed is followed by damage; one that was stopped in order by damage
 * or by a power failure.
 */
final class MediumDamage {
  private static final int PAGE_BYTES = 4096;

  private final World world;
  private final ServerHost host;
  private final SplittableRandom random;
  private final DamagedStore store;
  private final Map<String, byte[]> kept = new HashMap<>();

  /** The change of the medium, for messages. */
  private String done = "nothing";

  MediumDamage(World world, ServerHost host) {
    this.world = world;
    this.host = host;
    this.random = world.doors.split();
    this.store = new DamagedStore(world, host, random.split());
  }

  /** Ends the last process, and changes its medium. */
  void strike() {
    world.disk.onDrain(() -> {});
    try {
      switch (random.nextInt(4)) {
        case 0 -> strikeKilled();
        case 1 -> stopThen(false);
        default -> stopThen(true);
      }
    } catch (IOException e) {
      world.fail(World.describe(e));
    }
  }

  private void strikeKilled() throws IOException {
    if (!world.mayHappen(Fault.BYTE_CORRUPTED)) {
      return;
    }
    host.endForDamage();
    store.requireNamed(fault());
  }

  /**
   * Stops the process in order, then injects one fault, or a power failure if surviving it is
   * promised.
   */
  private void stopThen(boolean fault) throws IOException {
    if (!world.mayHappen(Fault.SERVER_STOP) || (fault && !world.mayHappen(Fault.BYTE_CORRUPTED))) {
      return;
    }
    store.noteTruth();
    if (world.failed()) {
      return;
    }
    host.stopForDamage();
    if (!store.hasRecord()) {
      // A full disk may have no room for the record: then the store counts as killed.
      if (world.configuration.diskRegions() == 0) {
        world.fail("a server that was stopped left no record of it");
      }
      store.requireNamed(fault ? fault() : -1);
    } else if (fault) {
      int key = fault();
      store.requireAccounted(key, done);
    } else {
      if (world.mayHappen(Fault.POWER_FAILURE) && host.survivesPower()) {
        host.losePower();
      }
      store.requireSound();
    }
  }

  /** Injects one fault. Returns the key whose committed object it hit, or -1. */
  private int fault() throws IOException {
    switch (random.nextInt(8)) {
      case 0 -> zero();
      case 1 -> lose();
      case 2 -> putBack();
      case 3 -> cut();
      case 4, 5 -> corruptAnything();
      default -> {
        int key = random.nextInt(world.configuration.keys());
        StoreView.Place place = world.view.committed(world.workload.key(key));
        if (place == null) {
          corruptAnything();
          return -1;
        }
        if (random.nextBoolean() || !misplace(key, place)) {
          world.happened(Fault.BYTE_CORRUPTED);
          corrupt(place.file(), place.offset() + random.nextInt(place.bytes()));
        }
        return key;
      }
    }
    return -1;
  }

  private void lose() throws IOException {
    if (world.mayHappen(Fault.FILE_MISSING)) {
      world.happened(Fault.FILE_MISSING);
      String name = anyFile();
      done = name + " is missing";
      world.disk.lose(name);
    }
  }

  private void corrupt(String name, long at) throws IOException {
    int bits = bits();
    done = "byte %d of %s is changed by %02x".formatted(at, name, bits);
    world.disk.corrupt(name, at, bits);
  }

  private void zero() throws IOException {
    if (!world.mayHappen(Fault.ZEROED)) {
      return;
    }
    String name = anyFile();
    int unit = random.nextBoolean() ? Long.BYTES : PAGE_BYTES;
    long length = world.disk.length(name);
    long at = anyWord(name) / unit * unit;
    world.happened(Fault.ZEROED);
    done = "%d bytes of %s from %d on are zeros".formatted(unit, name, at);
    for (long i = at; i < Math.min(length, at + unit); i++) {
      set(name, i, 0);
    }
  }

  private void set(String name, long at, int value) throws IOException {
    int there = world.disk.image(name).get(ValueLayout.JAVA_BYTE, at);
    world.disk.corrupt(name, at, there ^ value);
  }

  /** Keeps the current files of the store, to be put back at the end. */
  void keep() {
    for (String name : world.disk.names()) {
      kept.put(name, world.disk.image(name).toArray(ValueLayout.JAVA_BYTE));
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
      done = name + " is an older one";
      for (int i = 0; i < older.length; i++) {
        set(name, i, older[i]);
      }
    }
  }

  private int bits() {
    return random.nextBoolean() ? 1 << random.nextInt(8) : 1 + random.nextInt(255);
  }

  /**
   * A file, chosen so that the small files with most of the structure are likely, too: most bytes
   * are in regions.
   */
  private String anyFile() {
    List<String> names = world.disk.names();
    String name = names.get(random.nextInt(names.size()));
    for (int i = 0; i < 3 && name.startsWith(LogFiles.REGION_PREFIX); i++) {
      name = names.get(random.nextInt(names.size()));
    }
    return name;
  }

  /** A word, preferably one that is in use; its offset is a multiple of 8. */
  private long anyWord(String name) throws IOException {
    MemorySegment image = world.disk.image(name);
    long words = (world.disk.length(name) + Long.BYTES - 1) / Long.BYTES;
    long at = 0;
    for (int i = 0; i < 20; i++) {
      at = random.nextLong(words) * Long.BYTES;
      if (image.get(ValueLayout.JAVA_BYTE, at) != 0) {
        break;
      }
    }
    return at;
  }

  private void cut() throws IOException {
    if (!world.mayHappen(Fault.FILE_CUT)) {
      return;
    }
    String name = anyFile();
    long length = random.nextLong(world.disk.length(name));
    world.happened(Fault.FILE_CUT);
    done = name + " is cut to " + length + " bytes";
    world.disk.setLength(name, length);
  }

  /** If a key has an older version that fits, stores it where the newest one lies. */
  private boolean misplace(int key, StoreView.Place place) throws IOException {
    StoreView.Place older = world.view.older(world.workload.key(key));
    if (!world.configuration.faults().contains(Fault.OBJECT_MISPLACED)
        || older == null
        || older.equals(place)
        || place.offset() + older.bytes() > world.disk.length(place.file())) {
      return false;
    }
    world.happened(Fault.OBJECT_MISPLACED);
    done = "an older version lies at byte %d of %s".formatted(place.offset(), place.file());
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
    long at = anyWord(name) + random.nextInt(Long.BYTES);
    corrupt(name, Math.min(at, world.disk.length(name) - 1));
  }
}
