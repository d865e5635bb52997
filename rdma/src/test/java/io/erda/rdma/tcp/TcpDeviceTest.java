package io.erda.rdma.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.DeviceContract;
import io.erda.rdma.DeviceFixture;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** {@link DeviceContract} for the tcp device, and what it does beyond. */
final class TcpDeviceTest extends DeviceContract {
  @Override
  protected DeviceFixture open(Path emptyDirectory) throws IOException {
    return new TcpFixture();
  }

  @Test
  void whatWasClaimedIsKnownExactly() {
    connect();
    for (int i = 0; i < 3; i++) {
      responder.postReceive(i, serverLocal, 64L * i, 64);
      requester.post(send(i, 8));
    }
    until(() -> atServer.of(Opcode.RECEIVE).size() == 3);
    assertTrue(responder.claims().claim());
    requester.claims().withdraw();
    assertEquals(Long.MAX_VALUE, requester.claims().claimed(), "nothing was heard yet");
    until(() -> requester.claims().claimed() == 3);
    assertEquals(0, requester.claims().finished());
    responder.claims().finish();
    until(() -> requester.claims().finished() == 3);
    assertTrue(!responder.claims().claim());
  }

  @Test
  void whatWasNotClaimedIsTakenBack() {
    connect();
    responder.postReceive(1, serverLocal, 0, 64);
    requester.post(send(1, 8));
    requester.claims().withdraw();
    for (int i = 0; requester.claims().claimed() != 0; i++) {
      assertTrue(i < 3_000_000);
      requester.poll(atClient, 8);
    }
    until(() -> atServer.has(Opcode.DISCONNECT));
    assertTrue(!responder.claims().claim());
  }

  @Test
  void whatIsLongerThanItsBuffersIsMovedInParts() {
    connect();
    int bytes = 5 << 20;
    MemoryRegion region = register(bytes, Access.REMOTE_READ | Access.REMOTE_WRITE);
    MemorySegment memory = fixture.clientMemory(2L * bytes);
    MemoryRegion local = client.register(memory, Backing.none(2L * bytes), Access.LOCAL);
    byte[] random = new byte[bytes];
    new Random(9).nextBytes(random);
    MemorySegment.copy(random, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes);
    responder.postReceive(7, serverLocal, 0, 64);
    long key = region.remoteKey();
    assertTrue(
        requester.post(
            Work.writeImm().id(1).local(local, 0, bytes).remote(key, 0).imm(77).signaled()));
    until(() -> atServer.has(Opcode.RECEIVE_IMM) && atClient.has(Opcode.WRITE_IMM));
    assertEquals(bytes, atServer.last().byteLength(), "of the whole WRITE");
    assertEquals(77, atServer.last().imm());
    assertEquals(-1, region.memory().mismatch(MemorySegment.ofArray(random)));
    while (!requester.post(
        Work.read().id(2).local(local, bytes, bytes).remote(key, 0).signaled())) {
      steps(1);
    }
    // Asleep between the parts.
    while (!atClient.has(Opcode.READ)) {
      if (requester.poll(atClient, 8) == 0 && requester.arm()) {
        assertTrue(requester.await(20_000_000_000L));
      }
    }
    assertEquals(-1, memory.asSlice(bytes).mismatch(MemorySegment.ofArray(random)));
  }

  /**
   * A message that finds the buffer full of a READ's answer is passed on when the answer was sent,
   * even if nothing else wakes the I/O thread.
   */
  @Test
  void aMessageBehindTheAnswerOfALongReadArrives() {
    connect();
    int bytes = 4 << 20;
    MemoryRegion region = register(bytes, Access.REMOTE_READ);
    MemoryRegion local =
        client.register(fixture.clientMemory(bytes), Backing.none(bytes), Access.LOCAL);
    Random random = new Random(18);
    for (int i = 1; i <= 200; i++) {
      int messages = i;
      requester.postReceive(i, clientRegion, 0, 64);
      int length = bytes - random.nextInt(1 << 20);
      requester.post(Work.read().id(i).local(local, 0, length).remote(region.remoteKey(), 0));
      requester.poll(atClient, 8);
      responder.post(Work.send().id(i).local(serverLocal, 0, 8));
      until(() -> atClient.of(Opcode.RECEIVE).size() == messages);
    }
  }

  /** Notes what is asked of it. */
  private record Noted(MemorySegment segment, List<String> calls) implements PersistentMemory {
    @Override
    public void put(long offset, MemorySegment source, long sourceOffset, long length) {
      throw new AssertionError();
    }

    @Override
    public void putLongRelease(long offset, long value) {
      throw new AssertionError();
    }

    @Override
    public boolean compareAndSetLong(long offset, long expected, long value) {
      throw new AssertionError();
    }

    @Override
    public void flush(long offset, long length) {
      calls.add("flush " + offset + " " + length + " " + segment.get(ValueLayout.JAVA_LONG, 64));
    }

    @Override
    public void drain() {
      calls.add("drain");
    }

    @Override
    public Survives survives() {
      return Survives.POWER_FAILURE;
    }

    @Override
    public boolean visibleBeforeDurable() {
      return true;
    }

    @Override
    public Backing backing() {
      return Backing.none(segment.byteSize());
    }

    @Override
    public void close() {}
  }

  @Test
  void whatIsFlushedIsFlushedAndDrainedWhereItLiesBehindTheWritesBefore() {
    connect();
    Noted memory = new Noted(fixture.serverMemory(4096).segment(), new ArrayList<>());
    MemoryRegion region =
        server.register((PersistentMemory) memory, Access.REMOTE_READ | Access.REMOTE_WRITE);
    clientMemory.set(ValueLayout.JAVA_LONG, 0, 42);
    long key = region.remoteKey();
    requester.post(Work.write().id(1).local(clientRegion, 0, 8).remote(key, 64));
    assertTrue(requester.post(Work.flush().id(2).remote(key, 64, 8).signaled()));
    clientCompletes(2, Opcode.FLUSH, Status.SUCCESS);
    assertEquals(List.of("flush 64 8 42", "drain"), memory.calls());
    requester.post(Work.flush().id(3).remote(key, 4090, 8).signaled());
    clientCompletes(3, Opcode.FLUSH, Status.REMOTE_ACCESS);
    // Nobody said how this one is flushed.
    MemoryRegion plain = register(4096, Access.REMOTE_WRITE);
    requester.post(Work.flush().id(4).remote(plain.remoteKey(), 0, 8).signaled());
    clientCompletes(4, Opcode.FLUSH, Status.REMOTE_ACCESS);
  }

  /** Neither thread allocates, once both know the way. */
  @Test
  void aReadAllocatesNothing() {
    connect();
    MemoryRegion region = register(4096, Access.REMOTE_READ);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long io =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("erda-tcp"))
            .findFirst()
            .orElseThrow()
            .threadId();
    long own = Thread.currentThread().threadId();
    int reads = 2000;
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 10 && least > reads; round++) {
      long before = threads.getThreadAllocatedBytes(io) + threads.getThreadAllocatedBytes(own);
      read(region, reads);
      long after = threads.getThreadAllocatedBytes(io) + threads.getThreadAllocatedBytes(own);
      least = Math.min(least, after - before);
    }
    assertTrue(least < reads, least + " bytes for " + reads + " READs");
  }

  private void read(MemoryRegion region, int reads) {
    int[] done = new int[1];
    CompletionHandler count = (wrId, opcode, status, byteLength, imm) -> done[0]++;
    Work read = Work.read().local(clientRegion, 0, 1024).remote(region.remoteKey(), 0).signaled();
    for (int i = 0; i < reads; i++) {
      requester.post(read.id(i));
      while (done[0] <= i) {
        requester.poll(count, 1);
      }
    }
  }
}
