package io.erda.verbs;

import io.erda.pmem.Backing;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.rdma.Access;
import io.erda.rdma.ConnectionRequest;
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
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;

/**
 * A server and a client that {@code testbed/rdma} runs in two network namespaces. The server
 * registers a file of a directory, which lies on persistent memory if there is any. The client
 * makes bytes persistent in it in each way that a requester has, and the server checks the bytes
 * that arrived.
 *
 * <pre>PersistentEnds server HOST:PORT DIRECTORY | client HOST:PORT</pre>
 */
final class PersistentEnds {
  /** How often each is done, and how many bytes a FLUSH has: what is looked for in a trace. */
  private static final int ROUNDS = 100;

  private static final int FLUSHED_BYTES = 136;

  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final int BYTES = 1 << 20;

  /**
   * Offsets in the file. WRITEs go to the beginning of a page, because soft RDMA ignores the offset
   * of a WRITE in its page when memory is paged on demand.
   */
  private static final int READ_AT = 0;

  private static final int FLUSH_AT = 4096;
  private static final int WORD_AT = 12288 + 40;
  private static final long SLEEP_NS = 1_000_000_000;
  private static final long DEADLINE_NS = 60 * SLEEP_NS;

  private final VerbsDevice device;
  private final Recorder recorder = new Recorder();
  private QueuePair end;

  private PersistentEnds(VerbsDevice device) {
    this.device = device;
  }

  public static void main(String[] arguments) throws IOException {
    try (VerbsDevice device = VerbsDevice.open(null, System::nanoTime, new SecureRandom())) {
      PersistentEnds ends = new PersistentEnds(device);
      if (arguments[0].equals("server")) {
        ends.serve(arguments[1], Path.of(arguments[2]));
      } else {
        ends.ask(arguments[1]);
      }
    }
  }

  private void serve(String address, Path directory) throws IOException {
    try (MappedDirectory files = MappedDirectory.open(directory);
        PersistentMemory memory = files.create("flushed", BYTES);
        Listener listener = device.listen(address)) {
      MemoryRegion region =
          device.register(memory, Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC);
      System.out.println(
          "memory: survives "
              + memory.survives()
              + ", regions to FLUSH "
              + device.figures().get("rdma.regions.flushable").getAsLong()
              + ", of them on demand "
              + device.figures().get("rdma.regions.ondemand").getAsLong());
      System.out.println("listening at " + listener.address());
      ConnectionRequest request = listener.poll();
      for (; request == null; request = listener.poll()) {
        device.await(SLEEP_NS);
      }
      long persistent = memory.survives() == Survives.POWER_FAILURE ? 1 : 0;
      end = request.accept(MemorySegment.ofArray(new long[] {region.remoteKey(), persistent}));
      while (!recorder.has(Opcode.DISCONNECT)) {
        await();
      }
      end.close();
      for (int at : new int[] {READ_AT, FLUSH_AT, FLUSH_AT + FLUSHED_BYTES - 8, WORD_AT}) {
        require(memory.segment().get(LONG, at) == ROUNDS, "the last round's word at " + at);
      }
      device.deregister(region);
    }
    System.out.println("the client left, and all that it wrote is there");
  }

  private void ask(String address) {
    require(device.flushes(), "a device that offers FLUSH");
    require(device.writesWords(), "a device that offers ATOMIC_WRITE");
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(BYTES, 4096);
      MemoryRegion local = device.register(memory, Backing.none(BYTES), Access.LOCAL);
      end = device.connect(address, MemorySegment.ofArray(new byte[0]), Duration.ofSeconds(60));
      expect(Opcode.CONNECT, Status.SUCCESS);
      long key = end.privateData().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
      boolean persistent = end.privateData().get(ValueLayout.JAVA_LONG_UNALIGNED, 8) == 1;
      for (long round = 1; round <= ROUNDS; round++) {
        readBehindWrite(memory, local, key, round);
        flushBehindWrite(memory, local, key, round);
        end.post(Work.atomicWrite().id(4).remote(key, WORD_AT).value(round).signaled());
        expect(Opcode.ATOMIC_WRITE, Status.SUCCESS);
        if (round % 25 == 0) {
          end.post(Work.flush().id(5).remote(key, BYTES - 8, 16).signaled());
          expect(Opcode.FLUSH, Status.REMOTE_ACCESS);
        }
      }
      end.close();
      System.out.println(
          "persistent ends: passed, each "
              + ROUNDS
              + " times: READ behind a WRITE, FLUSH "
              + (persistent ? "(global, persistent)" : "(global)")
              + " behind a WRITE, ATOMIC_WRITE");
    }
  }

  private void readBehindWrite(MemorySegment memory, MemoryRegion local, long key, long round) {
    memory.set(LONG, 0, round);
    end.post(Work.write().id(1).local(local, 0, 8).remote(key, READ_AT));
    end.post(Work.read().id(2).local(local, 8, 8).remote(key, READ_AT).signaled());
    expect(Opcode.READ, Status.SUCCESS);
    require(memory.get(LONG, 8) == round, "READ what was WRITTEN");
  }

  private void flushBehindWrite(MemorySegment memory, MemoryRegion local, long key, long round) {
    for (int at = 0; at < FLUSHED_BYTES; at += 8) {
      memory.set(LONG, at, round);
    }
    end.post(Work.write().id(1).local(local, 0, FLUSHED_BYTES).remote(key, FLUSH_AT));
    end.post(Work.flush().id(3).remote(key, FLUSH_AT, FLUSHED_BYTES).signaled());
    expect(Opcode.FLUSH, Status.SUCCESS);
  }

  private void await() {
    if (end.poll(recorder, 1) == 0 && end.arm()) {
      device.await(SLEEP_NS);
    }
  }

  private void expect(int opcode, int status) {
    recorder.all.clear();
    long until = System.nanoTime() + DEADLINE_NS;
    while (recorder.all.isEmpty()) {
      require(System.nanoTime() - until < 0, "something within a minute");
      await();
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
}
