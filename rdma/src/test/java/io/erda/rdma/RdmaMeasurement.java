package io.erda.rdma;

import io.erda.pmem.Backing;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Prints what the shm device costs on this machine: READ and WRITE against a bare copy, and a
 * message round trip. Not a test: a main class to run by hand, with the classes and test classes of
 * this module and the classes of pmem on the class path.
 */
final class RdmaMeasurement {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
  private static final int REGION_BYTES = 1 << 18;
  private static final int SLICE = 20_000;

  private RdmaMeasurement() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "erda-measure");
    try (ShmFixture fixture = new ShmFixture(directory)) {
      Listener listener = fixture.server().listen(fixture.address());
      QueuePair requester =
          fixture.client().connect(fixture.address(), NOTHING, Duration.ofSeconds(5));
      ConnectionRequest request;
      while ((request = listener.poll()) == null) {}
      QueuePair responder = request.accept(NOTHING);
      requester.poll((a, b, c, d, e) -> {}, 1);
      reads(fixture, requester);
      roundTrips(fixture, requester, responder, "both poll", 150_000, false);
      roundTrips(fixture, requester, responder, "both sleep", 3_000, true);
    } finally {
      try (var files = Files.walk(directory)) {
        files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  private static void reads(ShmFixture fixture, QueuePair requester) throws IOException {
    DeviceFixture.ServerMemory memory = fixture.serverMemory(REGION_BYTES);
    MemoryRegion region =
        fixture
            .server()
            .register(memory.segment(), memory.backing(), Access.REMOTE_READ | Access.REMOTE_WRITE);
    MemorySegment local = Arena.global().allocate(1 << 16, 64);
    MemoryRegion localRegion =
        fixture.client().register(local, Backing.none(local.byteSize()), Access.LOCAL);
    Bench bench = new Bench(requester, localRegion, region.remoteKey(), memory.segment(), local);
    // The best of many short slices is the time without other threads on the core.
    for (int length : new int[] {64, 256, 1024, 1100}) {
      double raw = Double.MAX_VALUE;
      double read = Double.MAX_VALUE;
      double write = Double.MAX_VALUE;
      for (int i = 0; i < 150; i++) {
        raw = Math.min(raw, bench.raw(length, SLICE));
        read = Math.min(read, bench.read(length, SLICE));
        write = Math.min(write, bench.write(length, SLICE));
      }
      System.out.printf(
          "%5d B: copy %6.1f ns   READ %6.1f ns   WRITE %6.1f ns%n", length, raw, read, write);
    }
  }

  private static final class Bench implements CompletionHandler {
    private final QueuePair queuePair;
    private final MemoryRegion local;
    private final long key;
    private final MemorySegment mapped;
    private final MemorySegment target;
    private long done;

    Bench(
        QueuePair queuePair,
        MemoryRegion local,
        long key,
        MemorySegment mapped,
        MemorySegment target) {
      this.queuePair = queuePair;
      this.local = local;
      this.key = key;
      this.mapped = mapped;
      this.target = target;
    }

    @Override
    public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
      if (status != Status.SUCCESS) {
        throw new IllegalStateException(Status.name(status));
      }
      done++;
    }

    double raw(int length, int count) {
      long begin = System.nanoTime();
      long at = 0;
      for (int i = 0; i < count; i++) {
        at = at + 4096 + 64 & REGION_BYTES / 2 - 1 & ~63;
        MemorySegment.copy(mapped, at, target, 0, length);
      }
      return (double) (System.nanoTime() - begin) / count;
    }

    double read(int length, int count) {
      long begin = System.nanoTime();
      long at = 0;
      Work read = Work.read().local(local, 0, length).signaled();
      for (int i = 0; i < count; i++) {
        at = at + 4096 + 64 & REGION_BYTES / 2 - 1 & ~63;
        queuePair.post(read.id(i).remote(key, at));
        while (queuePair.poll(this, 8) == 0) {}
      }
      return (double) (System.nanoTime() - begin) / count;
    }

    double write(int length, int count) {
      long begin = System.nanoTime();
      long at = 0;
      Work write = Work.write().local(local, 0, length).signaled();
      for (int i = 0; i < count; i++) {
        at = at + 4096 + 64 & REGION_BYTES / 2 - 1 & ~63;
        queuePair.post(write.id(i).remote(key, at));
        while (queuePair.poll(this, 8) == 0) {}
      }
      return (double) (System.nanoTime() - begin) / count;
    }
  }

  private static void roundTrips(
      ShmFixture fixture,
      QueuePair requester,
      QueuePair responder,
      String how,
      int count,
      boolean sleep)
      throws Exception {
    MemorySegment memory = Arena.global().allocate(1 << 12, 64);
    MemoryRegion here = fixture.client().register(memory, Backing.none(1 << 12), Access.LOCAL);
    MemoryRegion there =
        fixture
            .server()
            .register(Arena.global().allocate(1 << 12, 64), Backing.none(1 << 12), Access.LOCAL);
    Thread echo =
        Thread.ofPlatform()
            .start(() -> play(responder, fixture.server(), there, count, sleep, false));
    int slice = count / 300;
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 300; i++) {
      long begin = System.nanoTime();
      play(requester, fixture.client(), here, slice, sleep, true);
      best = Math.min(best, (System.nanoTime() - begin) / slice);
    }
    echo.join();
    System.out.printf("round trip of 64 B, %s: %d ns (best of 300 slices)%n", how, best);
  }

  private static void play(
      QueuePair queuePair,
      Device device,
      MemoryRegion region,
      int count,
      boolean sleep,
      boolean begins) {
    int[] received = new int[1];
    Work send = Work.send().local(region, 0, 64);
    CompletionHandler handler = (wrId, opcode, status, byteLength, imm) -> received[0]++;
    for (int i = 0; i < count; i++) {
      queuePair.postReceive(i, region, 64, 64);
      if (begins) {
        queuePair.post(send.id(i));
      }
      while (received[0] <= i) {
        if (queuePair.poll(handler, 4) == 0 && sleep && queuePair.arm()) {
          device.await(1_000_000_000L);
        } else if (!sleep) {
          Thread.onSpinWait();
        }
      }
      if (!begins) {
        queuePair.post(send.id(i));
      }
    }
  }
}
