package io.erda.client.files;

import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.ReadableDirectory;
import io.erda.protocol.Handshake;
import io.erda.protocol.Handshake.Refusal;
import io.erda.protocol.Protocol;
import io.erda.rdma.Claims;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.DeviceStatistics;
import io.erda.rdma.Flags;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/**
 * A connection to the files of a store. A READ is a load from a read-only mapping, done in the
 * caller's thread when it is posted; {@link FileAnswers} answers a SEND in the same call. All other
 * work completes with {@link Status#UNSUPPORTED}. Owns the mappings.
 */
final class ReadOnlyQueuePair implements QueuePair {
  /** READs of the root between two reads of the clock. */
  private static final int READS_PER_LOOK = 64;

  /** How often the queue pair checks that the store still exists, in nanoseconds. */
  private static final long LOOK_NS = 100_000_000;

  /** The bytes of a cache line, by which places are loaded ahead. */
  private static final int SOON_STRIDE = 64;

  private static final MemoryGuard.Access<ReadOnlyQueuePair, Work> LOAD =
      (pair, work, _, _, _, _) -> pair.load(work);

  /** A buffer that was posted to receive a message. */
  private record Receive(long wrId, MemorySegment memory, long offset, int length) {}

  private final ReadOnlyDevice device;
  private final ReadableDirectory.Place place;
  private final String address;
  private final LongSupplier nanoTime;
  private final ReadCompletions completions = new ReadCompletions();
  private final ArrayDeque<Receive> receives = new ArrayDeque<>();

  /** Copies of requests that were not answered yet, in order. */
  private final ArrayDeque<MemorySegment> waiting = new ArrayDeque<>();

  private final MemorySegment message =
      MemorySegment.ofArray(new long[Protocol.MESSAGE_BYTES_MAX / Long.BYTES]);
  private final MemoryGuard faults = new MemoryGuard();
  private final NoEffects claims = new NoEffects();
  private ReadableDirectory directory;
  private MapReader reader;
  private ReachedFiles files;
  private FileAnswers answers;
  private MemorySegment privateData = MemorySegment.ofArray(new byte[0]);
  private String lost = "";

  /** Whether the first poll has tried to connect. */
  private boolean tried;

  /** The file that the current READ loads from; null before it is reached. */
  private ReachedFiles.Reached from;

  /** Whether the files now belong to another store, or can't be read any more. */
  private boolean broken;

  private boolean closed;
  private long sent;
  private int rootReads;
  private long lookedNs;
  private long reads;
  private long bytesRead;

  /** The sum of the words that were loaded ahead, so that the compiler keeps the loads. */
  @SuppressWarnings("unused")
  private long glimpsed;

  ReadOnlyQueuePair(
      ReadOnlyDevice device, ReadableDirectory.Place place, String address, LongSupplier nanoTime) {
    this.device = device;
    this.address = address;
    this.nanoTime = nanoTime;
    this.place = place;
    this.lookedNs = nanoTime.getAsLong();
  }

  private int connect() {
    try {
      directory = MapReader.openDirectory(place);
      reader = MapReader.open(directory);
      StoreSnapshot first = faults.find(reader, MapReader::read);
      if (first == null && faults.fault() != null) {
        privateData =
            Handshake.encode(new Refusal(Refusal.STORE, "a file of the store was shortened"));
        return Status.REJECTED;
      }
      if (first == null) {
        return Status.TIMEOUT;
      }
      files = new ReachedFiles(directory, reader.root(), reader::regions);
      answers = new FileAnswers(reader, files, first);
      privateData = Handshake.encode(answers.welcome());
      return Status.SUCCESS;
    } catch (NotReadable e) {
      privateData = Handshake.encode(new Refusal(Refusal.STORE, e.getMessage()));
      return e.status;
    }
  }

  // Posting.

  @Override
  public boolean post(Work work) {
    assert work.isWellFormed() : work;
    switch (work.opcode) {
      case Opcode.READ -> complete(work, read(work));
      case Opcode.SEND -> send(work);
      // Any other work would change the store.
      default -> complete(work, Status.UNSUPPORTED);
    }
    return true;
  }

  private void complete(Work work, int status) {
    if (status != Status.SUCCESS || (work.flags & Flags.SIGNALED) != 0) {
      completions.add(work.wrId, work.opcode, status, work.length);
    }
  }

  // READ.

  @Override
  public boolean readNow(Work work) {
    assert work.isWellFormed() && work.opcode == Opcode.READ : work;
    return files.known(work.remoteKey) != null && read(work) == Status.SUCCESS;
  }

  private boolean isOver() {
    return broken || claims.withdrawn || closed;
  }

  private int read(Work work) {
    if (isOver()) {
      return Status.FENCED;
    }
    if (work.remoteKey == ReachedFiles.ROOT && ++rootReads >= READS_PER_LOOK && !isStoreThere()) {
      return Status.FENCED;
    }
    from = null;
    int status = faults.access(LOAD, this, work, 0, 0, 0, 0);
    return status == MemoryGuard.FAULT ? afterFault(from, faults.fault()) : status;
  }

  private int load(Work work) {
    from = files.reach(work.remoteKey, answers.map());
    if (from == null) {
      lost = files.loss();
      return files.failure();
    }
    if (!from.contains(work.remoteOffset, work.length)) {
      return Status.REMOTE_ACCESS;
    }
    from.file().load(work.remoteOffset, work.local.memory(), work.localOffset, work.length);
    boolean linked = files.isLinked(from);
    // Only READs that met no fault are counted.
    faults.surface();
    reads++;
    bytesRead += work.length;
    return linked ? Status.SUCCESS : Status.REMOTE_ACCESS;
  }

  /**
   * Whether the store still exists. Without this check a client would read a deleted or replaced
   * store for ever.
   */
  private boolean isStoreThere() {
    rootReads = 0;
    long now = nanoTime.getAsLong();
    if (now - lookedNs >= LOOK_NS) {
      lookedNs = now;
      broken = !reader.root().isCurrent();
    }
    return !broken;
  }

  /**
   * Returns the status for a load that met a missing page.
   *
   * @throws MemoryFault when the page belongs to the caller's own memory
   */
  private int afterFault(ReachedFiles.Reached from, MemoryFault fault) {
    String loss = reader.regions().loss();
    if (loss == null) {
      loss = reader.root().loss();
    }
    if (loss != null) {
      broken = true;
      lost = loss;
      return Status.FENCED;
    }
    loss = from == null ? files.loss() : from.file().loss();
    if (loss == null || loss.isEmpty()) {
      throw fault;
    }
    lost = loss;
    return Status.MEMORY_LOST;
  }

  @Override
  public void readSoon(long[] remoteKeys, long[] remoteOffsets, int length, int count) {
    if (length < Long.BYTES) {
      return;
    }
    // A fault is ignored here: the READ that follows meets it too, and reports why the page is
    // missing.
    boolean ignored =
        faults.attempt(this, pair -> pair.glimpse(remoteKeys, remoteOffsets, length, count));
  }

  private void glimpse(long[] remoteKeys, long[] remoteOffsets, int length, int count) {
    int last = length - Long.BYTES & -Long.BYTES;
    long words = 0;
    for (int at = 0; at <= last; at += at < last ? Math.min(SOON_STRIDE, last - at) : 1) {
      for (int i = 0; i < count; i++) {
        ReachedFiles.Reached place = files.known(remoteKeys[i]);
        if (place != null && place.contains(remoteOffsets[i] + at, Long.BYTES)) {
          words += place.file().glimpse(remoteOffsets[i] + at);
        }
      }
    }
    glimpsed += words;
  }

  @Override
  public void forget(long remoteKey) {
    files.forget(remoteKey);
  }

  @Override
  public boolean isCurrent(long remoteKey) {
    return !broken && reader.root().isCurrent();
  }

  @Override
  public String lostRegion() {
    return lost;
  }

  // Messages.

  private void send(Work work) {
    if (isOver()) {
      complete(work, Status.FLUSHED);
      return;
    }
    sent++;
    MemorySegment request = MemorySegment.ofArray(new byte[work.length]);
    MemorySegment.copy(work.local.memory(), work.localOffset, request, 0, work.length);
    waiting.add(request);
    complete(work, Status.SUCCESS);
    answer();
  }

  @Override
  public boolean postReceive(long wrId, MemoryRegion local, long localOffset, int length) {
    receives.add(new Receive(wrId, local.memory(), localOffset, length));
    return true;
  }

  /** Answers waiting requests, as long as there is an answer and a receive for it. */
  private void answer() {
    try {
      if (!faults.attempt(this, ReadOnlyQueuePair::answerWaiting)) {
        int ignored = afterFault(null, faults.fault());
        breakOff();
      }
    } catch (NotReadable e) {
      breakOff();
    }
  }

  private void answerWaiting() throws NotReadable {
    while (!broken && !waiting.isEmpty() && !receives.isEmpty()) {
      MemorySegment request = waiting.peek();
      int bytes = answers.answer(request, 0, (int) request.byteSize(), message, 0);
      faults.surface();
      if (bytes == FileAnswers.LATER) {
        return;
      }
      waiting.remove();
      Receive into = receives.remove();
      MemorySegment.copy(message, 0, into.memory, into.offset, bytes);
      completions.add(into.wrId, Opcode.RECEIVE, Status.SUCCESS, bytes);
    }
  }

  private void breakOff() {
    broken = true;
    completions.add(0, Opcode.DISCONNECT, Status.SUCCESS, 0);
  }

  @Override
  public Claims claims() {
    return claims;
  }

  /**
   * The claims of a connection without a server. No message has an effect, and all messages count
   * as finished at once.
   */
  private final class NoEffects implements Claims {
    private boolean withdrawn;

    @Override
    public long sent() {
      return sent;
    }

    @Override
    public void withdraw() {
      withdrawn = true;
    }

    @Override
    public long claimed() {
      return 0;
    }

    @Override
    public long finished() {
      return sent;
    }
  }

  // Completions.

  @Override
  public int poll(CompletionHandler handler, int limit) {
    if (closed) {
      return 0;
    }
    if (!tried) {
      tried = true;
      completions.add(0, Opcode.CONNECT, connect(), 0);
    }
    if (!waiting.isEmpty()) {
      answer();
    }
    return completions.isEmpty() ? 0 : completions.drain(handler, limit);
  }

  @Override
  public boolean arm() {
    return tried && completions.isEmpty();
  }

  /** Sleeps until a waiting request can be answered, or the time passes. */
  @Override
  public boolean await(long timeoutNs) {
    return device.await(timeoutNs);
  }

  boolean isWaiting() {
    return !waiting.isEmpty();
  }

  @Override
  public MemorySegment privateData() {
    return privateData;
  }

  @Override
  public String peer() {
    return address;
  }

  DeviceStatistics statistics() {
    return new DeviceStatistics(reads, bytesRead, 0, 0, 0, sent, sent - waiting.size());
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    completions.clear();
    if (files != null) {
      files.close();
    }
    if (reader != null) {
      reader.close();
    }
    if (directory != null) {
      directory.close();
    }
    device.forget(this);
  }
}
