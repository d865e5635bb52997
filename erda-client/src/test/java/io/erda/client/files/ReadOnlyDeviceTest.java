package io.erda.client.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.Backing;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Root;
import io.erda.rdma.Access;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests a queue pair that only reads. */
class ReadOnlyDeviceTest {
  private static final int LINKED = 0xA5;
  private static final int RETIRED = 0x5A;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private record Done(long wrId, int opcode, int status, int bytes) {}

  private final SteppedFiles files = new SteppedFiles();
  private final List<Done> done = new ArrayList<>();
  private long now;
  private final ReadOnlyDevice device = new ReadOnlyDevice(() -> files, () -> now);
  private MemoryRegion local;
  private QueuePair queuePair;

  @BeforeEach
  void connect() {
    files.link(2, LINKED, 1, 5);
    region(2, 5, 1).set(LONG, 4096, 77);
    local =
        device.register(Arena.ofAuto().allocate(1 << 13, 64), Backing.none(1 << 13), Access.LOCAL);
    queuePair =
        device.connect("the files", MemorySegment.ofArray(new byte[0]), Duration.ofSeconds(1));
    poll();
    assertEquals(List.of(new Done(0, Opcode.CONNECT, Status.SUCCESS, 0)), done);
    done.clear();
  }

  @AfterEach
  void nothingStaysOpen() {
    device.close();
    assertEquals(0, files.open);
  }

  private MemorySegment region(int slot, int generation, int index) {
    MemorySegment region = files.make("region-" + slot + "-" + generation, 1 << 16);
    UUID store = SteppedFiles.STORE;
    region.set(LONG, 0, 0x6E67_6552_6164_7245L);
    region.set(ValueLayout.JAVA_INT_UNALIGNED, 8, 1);
    region.set(LONG, 16, store.getMostSignificantBits());
    region.set(LONG, 24, store.getLeastSignificantBits());
    region.set(ValueLayout.JAVA_INT_UNALIGNED, 32, slot);
    region.set(ValueLayout.JAVA_INT_UNALIGNED, 36, generation);
    region.set(ValueLayout.JAVA_INT_UNALIGNED, 44, index);
    region.set(LONG, 48, 1 << 16);
    region.set(ValueLayout.JAVA_INT_UNALIGNED, 56, 1 << 13);
    CRC32C crc = new CRC32C();
    crc.update(region.asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE));
    region.set(ValueLayout.JAVA_INT_UNALIGNED, 12, (int) crc.getValue());
    return region;
  }

  private void poll() {
    queuePair.poll(
        (wrId, opcode, status, bytes, imm) -> done.add(new Done(wrId, opcode, status, bytes)), 64);
  }

  private int read(long key, long offset, int bytes) {
    done.clear();
    queuePair.post(Work.read().id(1).local(local, 0, bytes).remote(key, offset).signaled());
    poll();
    return done.getFirst().status();
  }

  /** Sends a request; the answer lies at 4096 of the local memory. */
  private Done request(int type) {
    done.clear();
    local.memory().asSlice(0, 64).fill((byte) 0);
    Message.putHeader(local.memory(), 0, type, 0, 32, 9, 1, 1);
    queuePair.postReceive(5, local, 4096, 4096);
    queuePair.post(Work.send().id(6).local(local, 0, 32));
    poll();
    return done.isEmpty() ? null : done.getFirst();
  }

  private long regionKey() {
    Done answer = request(Message.MAP);
    assertEquals(Opcode.RECEIVE, answer.opcode());
    assertEquals(1, Message.getInt(local.memory(), 4096 + Message.MAPPED_REGIONS));
    return Message.getLong(
        local.memory(), 4096 + Message.MAPPED_RECORDS + (long) Message.RECORD_KEY);
  }

  @Test
  void theWelcomeAndTheMapAreWhatTheFilesSay() {
    Handshake.Welcome welcome = Handshake.decodeWelcome(queuePair.privateData());
    assertEquals(SteppedFiles.STORE, welcome.store());
    assertEquals(1, welcome.incarnation());
    assertEquals(Status.SUCCESS, read(welcome.rootKey(), 0, Root.LOOK_UP_BYTES));
    assertEquals(Status.SUCCESS, read(regionKey(), 4096, 8));
    assertEquals(77, local.memory().get(LONG, 0));
  }

  /**
   * The file of a region is reused for another region during a READ. The link word shows that
   * first.
   */
  @Test
  void whatIsReadOfAFileThatIsUsedAgainIsRefused() {
    long key = regionKey();
    assertEquals(Status.SUCCESS, read(key, 4096, 8));
    files.beforeEachLoad(() -> {
      files.link(2, RETIRED, 1, 5);
      files.files.get("region-2-5").set(LONG, 4096, 88);
    });
    assertEquals(Status.REMOTE_ACCESS, read(key, 4096, 8));
    files.beforeEachLoad(() -> {});
    assertFalse(queuePair.readNow(Work.read().local(local, 0, 8).remote(key, 4096)));
  }

  /** Nor is a file READ that was renamed before it could be mapped. */
  @Test
  void aRegionThatWasRetiredBeforeItWasReachedIsRefused() {
    long key = regionKey();
    files.link(2, RETIRED, 1, 5);
    files.files.put("left-5", files.files.remove("region-2-5"));
    assertEquals(Status.REMOTE_ACCESS, read(key, 4096, 8));
  }

  /** Without its file a region that is linked is lost. */
  @Test
  void aRegionWithoutItsFileIsDamage() {
    long key = regionKey();
    files.files.remove("region-2-5");
    assertEquals(Status.MEMORY_LOST, read(key, 4096, 8));
    assertTrue(queuePair.lostRegion().contains("region-2-5"), queuePair.lostRegion());
  }

  /** Found by a stranger: the client was told that something was refused, and not which file. */
  @Test
  void aTableThatIsNoFileIsNamed() {
    int table = 1;
    files.directory = "table-" + table;
    files.make(files.directory, 1 << 16);
    assertEquals(Status.MEMORY_LOST, read(ReachedFiles.tableKey(table), 0, 8));
    assertTrue(
        queuePair.lostRegion().contains("table-" + table + ": not a regular file"),
        queuePair.lostRegion());
  }

  /** Nor is a file lost that is there and can't be opened just now. */
  @Test
  void aRegionThatCanNotBeOpenedNowIsUnreadableAndNotLost() {
    long key = regionKey();
    files.unreadable = "region-2-5";
    assertEquals(Status.UNREADABLE, read(key, 4096, 8));
    assertTrue(
        queuePair.lostRegion().contains("region-2-5: open: Too many open files"),
        queuePair.lostRegion());
    files.unreadable = null;
    assertEquals(Status.SUCCESS, read(key, 4096, 8));
    assertEquals(77, local.memory().get(LONG, 0));
  }

  @Test
  void aFileThatIsForgottenIsClosed() {
    long key = regionKey();
    int before = files.open;
    read(key, 4096, 8);
    assertEquals(before + 1, files.open);
    queuePair.forget(key);
    assertEquals(before, files.open);
    assertEquals(Status.SUCCESS, read(key, 4096, 8));
  }

  @Test
  void placesBeyondAFileAreRefused() {
    long key = regionKey();
    assertEquals(Status.REMOTE_ACCESS, read(key, 1 << 16, 8));
    assertEquals(Status.REMOTE_ACCESS, read(key, -8, 8));
    assertEquals(Status.REMOTE_ACCESS, read(key + (1L << 32), 0, 8));
    assertEquals(Status.REMOTE_ACCESS, read(-1, 0, 8));
  }

  @Test
  void whatChangesSomethingIsUnsupported() {
    long key = regionKey();
    done.clear();
    queuePair.post(Work.write().id(1).local(local, 0, 8).remote(key, 0));
    queuePair.post(Work.writeImm().id(2).local(local, 0, 8).remote(key, 0).imm(3));
    queuePair.post(Work.flush().id(3).remote(key, 0, 8));
    queuePair.post(Work.atomicWrite().id(4).remote(key, 0).value(1));
    queuePair.post(
        Work.compareAndSwap()
            .id(5)
            .local(local, 0, Long.BYTES)
            .remote(key, 0)
            .expected(0)
            .value(1));
    poll();
    assertEquals(5, done.size());
    done.forEach(each -> assertEquals(Status.UNSUPPORTED, each.status()));
    assertTrue(device.readsOnly());
  }

  /** A request for a map that can't be read now is answered later. */
  @Test
  void aRequestWaitsForAMapThatStays() {
    long[] epoch = {1};
    files.beforeEachLoad(() -> files.root(Root.EPOCH_OFFSET, ++epoch[0]));
    assertEquals(null, request(Message.MAP));
    files.beforeEachLoad(() -> {});
    poll();
    assertEquals(epoch[0], Message.getLong(local.memory(), 4096 + Message.MAPPED_EPOCH));
  }

  /** It is noticed within so many READs of the root and a tenth of a second. */
  @Test
  void aStoreThatWasReplacedEndsTheConnection() {
    files.make(Root.FILE, 4096);
    now += 100_000_000;
    boolean ended = false;
    for (int i = 0; i < 64 && !ended; i++) {
      ended = read(ReachedFiles.ROOT, 0, Root.LOOK_UP_BYTES) == Status.FENCED;
    }
    assertTrue(ended);
    assertNotNull(queuePair.peer());
  }
}
