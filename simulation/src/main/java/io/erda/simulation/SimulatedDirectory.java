package io.erda.simulation;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * One process's view of a {@link SimulatedDisk}: it dies with the process, and then refuses to
 * change anything.
 */
public final class SimulatedDirectory implements MemoryDirectory {
  private final SimulatedDisk disk;
  private final long incarnation;
  private final boolean shared;
  private final List<SimulatedMemory> opened = new ArrayList<>();

  /** Whether flushes, drains and synchronisation make anything durable. */
  private boolean keepsPromise;

  SimulatedDirectory(SimulatedDisk disk, long incarnation, boolean shared) {
    this.disk = disk;
    this.incarnation = incarnation;
    this.shared = shared;
    this.keepsPromise = disk.promisesUnasked();
  }

  @Override
  public PersistentMemory create(String name, long length) throws IOException {
    MemoryDirectory.requireName(name);
    MemoryDirectory.requireLength(length);
    return map(disk.create(incarnation, name, length));
  }

  @Override
  public long usableBytes() {
    return disk.usableBytes();
  }

  @Override
  public PersistentMemory open(String name) throws IOException {
    MemoryDirectory.requireName(name);
    return map(disk.find(name));
  }

  private SimulatedMemory map(SimulatedFile file) {
    SimulatedMemory[] self = new SimulatedMemory[1];
    Arena arena = shared ? Arena.ofShared() : Arena.ofConfined();
    self[0] =
        new SimulatedMemory(file, incarnation, keepsPromise, arena, () -> opened.remove(self[0]));
    opened.add(self[0]);
    return self[0];
  }

  @Override
  public void lengthen(String name, long length) throws IOException {
    MemoryDirectory.requireName(name);
    MemoryDirectory.requireLength(length);
    disk.lengthen(incarnation, name, length, keepsPromise);
  }

  @Override
  public void delete(String name) throws IOException {
    MemoryDirectory.requireName(name);
    disk.delete(incarnation, name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    MemoryDirectory.requireName(from);
    MemoryDirectory.requireName(to);
    disk.rename(incarnation, from, to);
  }

  @Override
  public boolean exists(String name) {
    MemoryDirectory.requireName(name);
    return disk.names().contains(name);
  }

  @Override
  public List<String> names() {
    return disk.names();
  }

  @Override
  public void sync() {
    disk.sync(incarnation, keepsPromise);
  }

  @Override
  public Survives promise(Survives wanted) {
    keepsPromise = disk.promisesUnasked() || wanted == Survives.POWER_FAILURE;
    return survives();
  }

  @Override
  public void makeDurable() {
    if (survives() == Survives.POWER_FAILURE) {
      disk.makeDurable(incarnation);
    }
  }

  @Override
  public boolean lock() {
    return disk.lock(this, incarnation);
  }

  @Override
  public int boot() {
    return disk.boot();
  }

  @Override
  public Survives survives() {
    return keepsPromise ? disk.domain.survives() : Survives.PROCESS_CRASH;
  }

  @Override
  public void close() {
    for (SimulatedMemory memory : List.copyOf(opened)) {
      memory.close();
    }
    disk.unlock(this);
  }
}
