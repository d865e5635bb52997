package io.erda.rdma;

import io.erda.pmem.Backing;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The other process of {@link ShmProcessTest}. Says on standard output what happens, a word a line;
 * ends by itself after a minute.
 *
 * <pre>
 *   serve DIRECTORY FILE    serves FILE (4096 bytes) and accepts all; its remote key goes out as private data
 *   sleep DIRECTORY         connects, then sleeps
 *   write DIRECTORY         connects and WRITEs 1, 2, 3 … to the region until that fails; then tries MARKER and a READ
 * </pre>
 */
final class ShmPeer {
  static final long MARKER = 0xdead_dead_dead_deadL;
  private static final long LIFE_NS = 60_000_000_000L;

  private final ShmDevice device;
  private final long end = System.nanoTime() + LIFE_NS;
  private int lastStatus = -1;
  private int lastOpcode;

  private ShmPeer(ShmDevice device) {
    this.device = device;
  }

  public static void main(String[] arguments) throws Exception {
    String how = arguments[0];
    Path directory = Path.of(arguments[1]);
    boolean serves = how.equals("serve");
    ShmOptions options =
        serves
            ? ShmOptions.toServe(directory, System::nanoTime)
            : ShmOptions.toConnect(System::nanoTime);
    ShmPeer peer = new ShmPeer(ShmDevice.open(options));
    switch (how) {
      case "serve" -> peer.serve(directory, Path.of(arguments[2]));
      case "sleep" -> peer.sleep(directory);
      case "write" -> peer.write(directory);
      default -> throw new IllegalArgumentException(how);
    }
  }

  private static void say(Object word) {
    System.out.println(word);
    System.out.flush();
  }

  private void serve(Path directory, Path file) throws Exception {
    DeviceFixture.ServerMemory memory = ShmFixture.memoryFile(file, 4096, Arena.global());
    memory.segment().fill((byte) 3);
    MemoryRegion region =
        device.register(
            memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
    Listener listener = device.listen(directory.toString());
    say("ready");
    while (System.nanoTime() - end < 0) {
      ConnectionRequest request = listener.poll();
      if (request != null) {
        request.accept(keyAsData(region.remoteKey()));
        say("accepted");
      }
      device.await(1_000_000);
    }
  }

  static MemorySegment keyAsData(long key) {
    MemorySegment data = MemorySegment.ofArray(new long[1]);
    data.set(QueueLayout.LONG, 0, key);
    return data;
  }

  static long keyFromData(QueuePair queuePair) {
    return queuePair.privateData().get(QueueLayout.LONG.withByteAlignment(1), 0);
  }

  private void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
    lastStatus = status;
    lastOpcode = opcode;
  }

  private QueuePair connect(Path directory) {
    QueuePair queuePair =
        device.connect(
            directory.toString(), MemorySegment.ofArray(new byte[0]), Duration.ofSeconds(20));
    next(queuePair);
    say(Status.name(lastStatus));
    return queuePair;
  }

  /** Waits for one completion, asleep. */
  private void next(QueuePair queuePair) {
    while (queuePair.poll(this::onCompletion, 1) == 0) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("nothing completes");
      }
      if (queuePair.arm()) {
        queuePair.await(1_000_000_000);
      }
    }
  }

  private void sleep(Path directory) {
    QueuePair queuePair = connect(directory);
    next(queuePair);
    say(lastOpcode == Opcode.DISCONNECT ? "disconnected" : "opcode " + lastOpcode);
  }

  private void write(Path directory) {
    QueuePair queuePair = connect(directory);
    long key = keyFromData(queuePair);
    MemorySegment local = Arena.global().allocate(64, 8);
    MemoryRegion region = device.register(local, Backing.none(64), Access.LOCAL);
    long value = 0;
    do {
      local.set(QueueLayout.LONG, 0, ++value);
      queuePair.post(Work.write().id(value).local(region, 0, 8).remote(key, 0).signaled());
      next(queuePair);
      if (value == 1000) {
        say("writing");
      }
    } while (lastOpcode == Opcode.WRITE && lastStatus == Status.SUCCESS);
    int ended = lastStatus;
    for (int i = 0; i < 100; i++) {
      local.set(QueueLayout.LONG, 0, MARKER);
      queuePair.post(Work.write().id(value).local(region, 0, 8).remote(key, 0).signaled());
    }
    queuePair.post(Work.read().id(value).local(region, 8, 8).remote(key, 0).signaled());
    do {
      next(queuePair);
      if (lastOpcode == Opcode.WRITE && lastStatus == Status.SUCCESS) {
        say("a WRITE succeeded");
      }
    } while (lastOpcode != Opcode.READ);
    say("write " + Status.name(ended) + ", read " + Status.name(lastStatus));
  }
}
