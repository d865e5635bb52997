package io.erda.verbs;

import com.ibm.disni.verbs.SVCPollCq;
import com.sun.management.ThreadMXBean;
import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Recorder;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.verbs.ffm.PostSend;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;

/**
 * Measures the time of a READ of 1 KiB through the verbs interface, for {@code testbed/rdma
 * latency}, which measures perftest's {@code ib_read_lat} in turns with it: one READ at a time,
 * polled for.
 *
 * <pre>ReadLatency server HOST:PORT | client HOST:PORT READS</pre>
 *
 * <p>The client does a round for each line of its standard input, which is {@code seam} or {@code
 * bare}, and the nanoseconds of pause before each READ. It prints the median in nanoseconds, and of
 * {@code seam} how many bytes its thread allocated.
 */
final class ReadLatency implements CompletionHandler {
  private static final int BYTES = 1 << 16;
  private static final int READ_BYTES = 1024;
  private static final long SLEEP_NS = 1_000_000_000;

  private final QueuePair end;
  private final MemoryRegion local;
  private final long key;
  private final long[] tookNs;
  private final PostSend post;
  private final SVCPollCq poll;
  private long gapNs;
  private int done, number;
  private long called, toCall, toPost, polls, posted;
  private int failed;

  private ReadLatency(QueuePair end, MemoryRegion local, long key, int reads) {
    this.end = end;
    this.local = local;
    this.key = key;
    this.tookNs = new long[reads];
    this.post = (PostSend) field(field(end, "data"), "read");
    this.poll = (SVCPollCq) field(field(end, "link"), "pollCall");
  }

  public static void main(String[] arguments) throws IOException {
    try (Arena arena = Arena.ofShared();
        VerbsDevice device = VerbsDevice.open(null, System::nanoTime, new SecureRandom())) {
      MemorySegment memory = arena.allocate(BYTES, 4096);
      if (arguments[0].equals("server")) {
        serve(device, memory, arguments[1]);
      } else {
        read(device, memory, arguments[1], Integer.parseInt(arguments[2]));
      }
    }
  }

  private static void serve(VerbsDevice device, MemorySegment memory, String address)
      throws IOException {
    Recorder recorder = new Recorder();
    try (Listener listener = device.listen(address)) {
      System.out.println("listening at " + listener.address());
      ConnectionRequest request = listener.poll();
      for (; request == null; request = listener.poll()) {
        device.await(SLEEP_NS);
      }
      MemoryRegion region = device.register(memory, Backing.none(BYTES), Access.REMOTE_READ);
      for (int i = 0; i < READ_BYTES; i++) {
        memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + 1));
      }
      try (QueuePair end = request.accept(MemorySegment.ofArray(new long[] {region.remoteKey()}))) {
        while (!recorder.has(Opcode.DISCONNECT)) {
          await(device, end, recorder);
        }
      }
    }
  }

  private static void read(VerbsDevice device, MemorySegment memory, String address, int reads)
      throws IOException {
    Recorder recorder = new Recorder();
    MemoryRegion local = device.register(memory, Backing.none(BYTES), Access.LOCAL);
    try (QueuePair end =
        device.connect(address, MemorySegment.ofArray(new byte[0]), Duration.ofSeconds(60))) {
      while (recorder.all.isEmpty()) {
        await(device, end, recorder);
      }
      require(recorder.last().status() == Status.SUCCESS, "a connection: " + recorder.last());
      long key = end.privateData().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
      ReadLatency latency = new ReadLatency(end, local, key, reads);
      BufferedReader rounds =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      for (String line = rounds.readLine(); line != null; line = rounds.readLine()) {
        String[] words = line.split(" ", 2);
        latency.gapNs = Long.parseLong(words[1]);
        memory.asSlice(0, READ_BYTES).fill((byte) 0);
        if (words[0].equals("bare")) {
          latency.bare();
        } else {
          latency.seam();
        }
        for (int i = 0; i < READ_BYTES; i++) {
          require(memory.get(ValueLayout.JAVA_BYTE, i) == (byte) (i * 7 + 1), "what is there");
        }
      }
    }
  }

  private void seam() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    // The first question may allocate by itself.
    threads.getCurrentThreadAllocatedBytes();
    long before = threads.getCurrentThreadAllocatedBytes();
    measure();
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    require(failed == 0, "READs that succeed, not " + failed + " that don't");
    Arrays.sort(tookNs);
    System.out.println(tookNs[tookNs.length / 2] + " " + allocated);
  }

  private void measure() {
    Work read = Work.read().local(local, 0, READ_BYTES).remote(key, 0).signaled();
    for (int i = 0; i < tookNs.length; i++) {
      int until = done + 1;
      long began = rest();
      end.post(read.id(i));
      while (done < until) {
        end.poll(this, 1);
      }
      tookNs[i] = System.nanoTime() - began;
    }
  }

  /**
   * Times READs that rdma-core's two calls do alone: they post again the last request that the seam
   * prepared.
   */
  private void bare() throws IOException {
    for (int i = 0; i < tookNs.length; i++) {
      long began = rest();
      post.execute();
      while (poll.execute().getPolls() == 0) {
        Thread.onSpinWait();
      }
      tookNs[i] = System.nanoTime() - began;
    }
    Arrays.sort(tookNs);
    System.out.println(tookNs[tookNs.length / 2] + " -1");
  }

  private static Object field(Object of, String name) {
    try {
      Field field = of.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(of);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits, and returns when that was over. */
  private long rest() {
    long now = System.nanoTime();
    for (long until = now + gapNs; now - until < 0; ) {
      now = System.nanoTime();
    }
    return now;
  }

  @Override
  public void onCompletion(long wrId, int opcode, int status, int bytes, int imm) {
    done++;
    if (status != Status.SUCCESS || opcode != Opcode.READ || bytes != READ_BYTES) {
      failed++;
    }
  }

  private static void await(VerbsDevice device, QueuePair end, Recorder recorder) {
    if (end.poll(recorder, 1) == 0 && end.arm()) {
      device.await(SLEEP_NS);
    }
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError("expected: " + what);
    }
  }
}
