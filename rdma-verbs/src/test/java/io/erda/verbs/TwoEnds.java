package io.erda.verbs;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.time.Duration;

/**
 * A server and a client that {@code testbed/rdma} runs in two network namespaces. The server offers
 * a region and adds one to each number it is sent; the client WRITEs, READs, swaps and asks, uses a
 * wrong key, and goes on.
 *
 * <pre>TwoEnds server|client HOST:PORT</pre>
 */
final class TwoEnds {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final int BYTES = 1 << 20;
  private static final int ROUNDS = 200;
  private static final long SLEEP_NS = 1_000_000_000;

  public static void main(String[] arguments) throws IOException {
    try (Arena arena = Arena.ofShared();
        VerbsDevice device = VerbsDevice.open(null, System::nanoTime, new SecureRandom())) {
      MemorySegment memory = arena.allocate(BYTES, 4096);
      if (arguments[0].equals("server")) {
        serve(device, memory, arguments[1]);
      } else {
        ask(device, memory, arguments[1]);
      }
    }
  }

  private static void serve(Device device, MemorySegment memory, String address)
      throws IOException {
    Recorder recorder = new Recorder();
    try (Listener listener = device.listen(address)) {
      System.out.println("listening at " + listener.address());
      ConnectionRequest request = listener.poll();
      for (; request == null; request = listener.poll()) {
        device.await(SLEEP_NS);
      }
      MemoryRegion region =
          device.register(
              memory,
              Backing.none(BYTES),
              Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC);
      MemorySegment key = MemorySegment.ofArray(new long[] {region.remoteKey()});
      try (QueuePair end = request.accept(key)) {
        end.postReceive(0, region, 0, 8);
        while (!recorder.has(Opcode.DISCONNECT)) {
          int before = recorder.all.size();
          await(device, end, recorder);
          if (recorder.all.size() > before
              && recorder.last().opcode() == Opcode.RECEIVE
              && recorder.last().status() == Status.SUCCESS) {
            memory.set(LONG, 0, memory.get(LONG, 0) + 1);
            end.postReceive(0, region, 0, 8);
            end.post(Work.send().local(region, 0, 8));
          }
        }
      }
    }
    System.out.println("the client left");
  }

  private static void ask(Device device, MemorySegment memory, String address) {
    Recorder recorder = new Recorder();
    MemoryRegion local = device.register(memory, Backing.none(BYTES), Access.LOCAL);
    try (QueuePair end =
        device.connect(address, MemorySegment.ofArray(new byte[0]), Duration.ofSeconds(60))) {
      expect(device, end, recorder, Opcode.CONNECT, Status.SUCCESS);
      long key = end.privateData().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
      for (int round = 1; round <= ROUNDS; round++) {
        memory.set(LONG, 4096, round);
        end.post(Work.write().id(1).local(local, 4096, 1000).remote(key, 4096));
        end.post(Work.read().id(2).local(local, 8192, 1000).remote(key, 4096).signaled());
        expect(device, end, recorder, Opcode.READ, Status.SUCCESS);
        require(memory.get(LONG, 8192) == round, "READ what was WRITTEN");
        end.post(
            Work.compareAndSwap()
                .id(3)
                .local(local, 16, Long.BYTES)
                .remote(key, 4096)
                .expected(round)
                .value(-round)
                .signaled());
        expect(device, end, recorder, Opcode.COMPARE_AND_SWAP, Status.SUCCESS);
        require(memory.get(LONG, 16) == round, "swapped");
        end.postReceive(4, local, 24, 8);
        memory.set(LONG, 32, round);
        end.post(Work.send().id(5).local(local, 32, 8));
        expect(device, end, recorder, Opcode.RECEIVE, Status.SUCCESS);
        require(memory.get(LONG, 24) == round + 1, "answered");
        if (round % 50 == 0) {
          end.post(Work.read().id(6).local(local, 8192, 8).remote(key + 1, 0).signaled());
          expect(device, end, recorder, Opcode.READ, Status.REMOTE_ACCESS);
        }
      }
    }
    System.out.println("two ends: passed, " + ROUNDS + " rounds");
  }

  private static void await(Device device, QueuePair end, Recorder recorder) {
    if (end.poll(recorder, 1) == 0 && end.arm()) {
      device.await(SLEEP_NS);
    }
  }

  private static void expect(
      Device device, QueuePair end, Recorder recorder, int opcode, int status) {
    recorder.all.clear();
    long until = System.nanoTime() + 60 * SLEEP_NS;
    while (recorder.all.isEmpty()) {
      require(System.nanoTime() - until < 0, "something within a minute");
      await(device, end, recorder);
    }
    require(
        recorder.last().opcode() == opcode && recorder.last().status() == status,
        "opcode " + opcode + " with status " + status + ", not " + recorder.last());
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError("expected: " + what);
    }
  }

  private TwoEnds() {}
}
