package io.erda.simulation.system;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.NotAMemoryException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.simulation.SimulatedDisk;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A copy of the files of a disk, seen on the same machine: an inspection maps a store privately, so
 * that none of its stores reaches the files.
 */
final class DiskCopy extends ForwardingDirectory {
  private final SimulatedDisk disk;

  DiskCopy(SimulatedDisk disk) throws IOException {
    super(copy(disk));
    this.disk = disk;
  }

  private static HeapDirectory copy(SimulatedDisk disk) throws IOException {
    HeapDirectory copy = new HeapDirectory(Long.MAX_VALUE, Survives.POWER_FAILURE);
    for (String name : disk.names()) {
      MemorySegment image = disk.image(name);
      if (image.byteSize() > 0) {
        try (PersistentMemory memory = copy.create(name, image.byteSize())) {
          memory.put(0, image, 0, image.byteSize());
        }
      }
    }
    return copy;
  }

  private boolean isEmpty(String name) {
    MemorySegment image = disk.image(name);
    return image != null && image.byteSize() == 0;
  }

  @Override
  public boolean exists(String name) {
    return super.exists(name) || isEmpty(name);
  }

  /** Handles empty files, which can't be mapped. */
  @Override
  public PersistentMemory open(String name) throws IOException {
    if (!super.exists(name) && isEmpty(name)) {
      throw new NotAMemoryException(Path.of(name), "is empty");
    }
    return super.open(name);
  }

  @Override
  public List<String> names() throws IOException {
    List<String> names = new ArrayList<>(super.names());
    disk.names().stream().filter(this::isEmpty).forEach(names::add);
    return names.stream().distinct().sorted().toList();
  }

  /** The boot, from any view, because the disk's own count is not accessible. */
  @Override
  public int boot() {
    return disk.directory().boot();
  }
}
