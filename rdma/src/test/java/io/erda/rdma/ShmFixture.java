package io.erda.rdma;

import io.erda.pmem.Backing;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import io.erda.rdma.shm.ShmRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Two shm devices of one JVM in a directory. */
public final class ShmFixture implements DeviceFixture {
  private final Path directory;
  private final Path served;
  private final ShmDevice server;
  private final ShmDevice client;
  private final Arena arena = Arena.ofShared();
  private int files;

  public ShmFixture(Path directory) throws IOException {
    this.directory = directory;
    this.served = directory.resolve("shm");
    this.server = ShmDevice.open(ShmOptions.toServe(served, System::nanoTime));
    this.client = ShmDevice.open(ShmOptions.toConnect(System::nanoTime));
  }

  @Override
  public ShmDevice server() {
    return server;
  }

  @Override
  public ShmDevice client() {
    return client;
  }

  @Override
  public String address() {
    return served.toString();
  }

  @Override
  public String deadAddress() {
    return directory.resolve("nobody").toString();
  }

  @Override
  public ServerMemory serverMemory(long bytes) {
    return memoryFile(directory.resolve("memory-" + files++), bytes, arena);
  }

  static ServerMemory memoryFile(Path file, long bytes, Arena arena) {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      ShmRegistry.writeZeros(channel, bytes);
      return new ServerMemory(
          channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena),
          new Backing(file, 0, bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The number of a file in its file system. */
  static long inode(Path file) throws IOException {
    return ((Number) Files.getAttribute(file, "unix:ino")).longValue();
  }

  @Override
  public MemorySegment clientMemory(long bytes) {
    return arena.allocate(bytes, 8);
  }

  @Override
  public void step() {
    Thread.onSpinWait();
  }

  @Override
  public boolean hasThreads() {
    return true;
  }

  @Override
  public void close() {
    client.close();
    server.close();
    arena.close();
  }
}
