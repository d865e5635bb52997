package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.erda.hashtable.Entry;
import io.erda.hashtable.KeyHash;
import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.logstore.Region;
import io.erda.pmem.Backing;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.protocol.Root;
import io.erda.protocol.WelcomeBuilder;
import io.erda.rdma.Access;
import io.erda.rdma.CompletionHandler;
import io.erda.rdma.ConnectionRequest;
import io.erda.rdma.Listener;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Opcode;
import io.erda.rdma.QueuePair;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * A store and its server, as simple as can be, whose every answer a test can change. It works when
 * it is stepped, and the clock that clients get steps it: a blocking client that waits makes its
 * own server go on, in one thread and in virtual time.
 */
public final class FakeStore implements LongSupplier {
  public static final String ADDRESS = "fake";
  static final int HEADS = 2;
  static final long REGION_BYTES = 1 << 20;
  static final int SEGMENT_BYTES = 1 << 18;
  static final long BUCKETS = 1 << 12;
  static final long ENTRIES_OFFSET = 4096;
  static final long SEED = 7;
  static final long TICK_NS = 1_000;

  /**
   * Answers one kind of request: returns a result, or {@link #SILENCE}; on OK the default work is
   * done.
   */
  public interface Answer {
    int to(int type, MemorySegment request);
  }

  public static final int SILENCE = -1;

  final LogGeometry geometry = new LogGeometry(HEADS, REGION_BYTES, SEGMENT_BYTES, 64);
  final UUID id = new UUID(1, 2);
  final EmbeddedNetwork network;
  public final HookedDevice clientDevice;
  final KeyHash hash = new KeyHash(SEED);

  /** By reservation: where the next object may begin. Objects are published in their order. */
  private final Map<Long, Long> nextPlaces = new HashMap<>();

  /** Publications that came after one of a higher place. */
  int refusedPlaces;

  final MemorySegment root;
  final MemorySegment table;

  /** The larger or smaller table that takes the entries of this one; null while none does. */
  MemorySegment next;

  private MemoryRegion nextRegion;
  private long nextBuckets;
  private boolean resized;
  public final List<MemorySegment> regions = new ArrayList<>();
  public final Map<Long, MemoryRegion> regionKeys = new HashMap<>();
  public final List<Integer> requests = new ArrayList<>();

  /** Key and value of every publish, in order; filled when a test asks for it. */
  List<String> published;

  EmbeddedDevice device;
  public Answer answer = (type, request) -> Result.OK;
  public UnaryOperator<WelcomeBuilder> welcome = said -> said;

  /** Changes the bytes of a welcome. */
  UnaryOperator<MemorySegment> welcomeBytes = bytes -> bytes;

  /** Changes a response before it is sent; returns its length on the wire. */
  interface Tamper {
    int response(int type, MemorySegment response, int length);
  }

  Tamper tamper = (type, response, length) -> length;

  /**
   * Where the store WRITEs with immediate data instead of sending a response: a remote key; 0
   * nowhere.
   */
  long writesInstead;

  Handshake.Refusal refusal;

  /** Whether the store has sent clients wrong information, and so accepts wrong requests. */
  boolean misleads;

  /** Whether it claims what it receives; a server that is stopped does not. */
  boolean takes = true;

  int leaseBytes = 4096;
  int mapPage = Message.RECORDS_MAX;
  int generation = 5;
  boolean stopped;
  public Runnable onTick = () -> {};
  long nowNs;

  private final Arena arena = Arena.ofAuto();
  private Listener listener;
  private MemoryRegion rootRegion;
  private MemoryRegion tableRegion;
  private final List<Peer> peers = new ArrayList<>();
  private final long[] append = new long[HEADS];
  private final Map<Long, Integer> reservations = new HashMap<>();
  private long nextReservation = 100;
  private boolean stepping;

  public FakeStore() {
    network = new EmbeddedNetwork(this);
    root = arena.allocate(Root.BYTES, 64);
    table = arena.allocate(ENTRIES_OFFSET + (BUCKETS + Neighbourhood.ENTRIES) * Entry.BYTES, 64);
    for (int head = 0; head < HEADS; head++) {
      append[head] = Region.HEADER_BYTES;
      regions.add(arena.allocate(REGION_BYTES, 64));
    }
    setRoot(Root.INCARNATION_OFFSET, 1);
    setRoot(Root.EPOCH_OFFSET, 1);
    clientDevice = new HookedDevice(network.device());
    start();
  }

  void start() {
    stopped = false;
    device = network.device();
    try {
      listener = device.listen(ADDRESS);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (rootRegion == null) {
      rootRegion = device.register(root, Backing.none(root.byteSize()), Access.REMOTE_READ);
      tableRegion = device.register(table, Backing.none(table.byteSize()), Access.REMOTE_READ);
      for (int head = 0; head < HEADS; head++) {
        link(head);
      }
    }
  }

  /** Begins to double: an empty table of twice the buckets, and a new map. */
  void beginDoubling() {
    beginResizing(2 * BUCKETS);
  }

  /** Begins to halve: an empty table of half the buckets, and a new map. */
  void beginHalving() {
    beginResizing(BUCKETS / 2);
  }

  private void beginResizing(long buckets) {
    nextBuckets = buckets;
    next = arena.allocate(ENTRIES_OFFSET + (buckets + Neighbourhood.ENTRIES) * Entry.BYTES, 64);
    nextRegion = device.register(next, Backing.none(next.byteSize()), Access.REMOTE_READ);
    setRoot(Root.EPOCH_OFFSET, getRoot(Root.EPOCH_OFFSET) + 1);
  }

  /** Moves an entry: first the copy, then MOVED. */
  void move(long entry) {
    copy(entry);
    setWord(entry, VersionWord.MOVED);
  }

  /** The first half of a move. Returns where the copy is in {@link #next}. */
  long copy(long entry) {
    long keyWord = table.get(ValueLayout.JAVA_LONG, entry);
    long at = ENTRIES_OFFSET + Entry.bucket(keyWord, nextBuckets) * Entry.BYTES;
    while (next.get(ValueLayout.JAVA_LONG, at + 8) != 0) {
      at += Entry.BYTES;
    }
    next.set(ValueLayout.JAVA_LONG, at, keyWord);
    next.set(ValueLayout.JAVA_LONG, at + 8, word(entry));
    return at;
  }

  /** The new table is the only one, and the old one can't be READ any more. */
  void endResizing() {
    resized = true;
    setRoot(Root.EPOCH_OFFSET, getRoot(Root.EPOCH_OFFSET) + 1);
    device.deregister(tableRegion);
  }

  long nextKey() {
    return nextRegion.remoteKey();
  }

  void link(int head) {
    MemorySegment memory = regions.get(head);
    regionKeys.put(
        (long) head,
        device.register(
            memory, Backing.none(memory.byteSize()), Access.REMOTE_READ | Access.REMOTE_WRITE));
  }

  /** Ends the server: its queue pairs and its listener. The memory stays. */
  void stop() {
    stopped = true;
    peers.clear();
    device.close();
  }

  /** No server can be connected to; what is connected stays as it is, and is not answered. */
  void unlisten() {
    stopped = true;
    listener.close();
  }

  public void setRoot(int offset, long value) {
    root.set(ValueLayout.JAVA_LONG, offset, value);
  }

  long getRoot(int offset) {
    return root.get(ValueLayout.JAVA_LONG, offset);
  }

  public long rootKey() {
    return rootRegion.remoteKey();
  }

  /** A key that the store may WRITE with, to memory at the client. */
  long writableKey() {
    MemorySegment memory = arena.allocate(64, 64);
    return clientDevice.register(memory, Backing.none(64), Access.REMOTE_WRITE).remoteKey();
  }

  long tableKey() {
    return tableRegion.remoteKey();
  }

  public ErdaClient client() {
    return client(ClientOptions.DEFAULT.withPollingNs(1_000_000_000_000L));
  }

  public ErdaClient client(ClientOptions options) {
    return ErdaClient.over(clientDevice, ADDRESS, options, this);
  }

  @Override
  public long getAsLong() {
    nowNs += TICK_NS;
    onTick.run();
    step();
    return nowNs;
  }

  void step() {
    if (stepping || stopped || listener == null) {
      return;
    }
    stepping = true;
    try {
      for (ConnectionRequest request = listener.poll();
          request != null;
          request = listener.poll()) {
        accept(request);
      }
      for (Peer peer : List.copyOf(peers)) {
        peer.queuePair.poll(peer, 64);
      }
    } finally {
      stepping = false;
    }
  }

  private void accept(ConnectionRequest request) {
    if (refusal != null) {
      request.reject(Handshake.encode(refusal));
      return;
    }
    WelcomeBuilder said =
        new WelcomeBuilder()
            .store(id)
            .incarnation(getRoot(Root.INCARNATION_OFFSET))
            .rootKey(rootRegion.remoteKey())
            .hashSeed(SEED)
            .regionBytes(REGION_BYTES)
            .segmentBytes(SEGMENT_BYTES)
            .heads(HEADS)
            .promise(Promise.PROCESS)
            .putMode(0)
            .clientId(peers.size() + 1)
            .connectionEpoch(9)
            .keyBytesMax(64)
            .valueBytesMax(200_000)
            .messageBytesMax(Protocol.MESSAGE_BYTES_MAX)
            .pollingNs(50_000);
    MemorySegment bytes = Handshake.encode(welcome.apply(said).build());
    peers.add(new Peer(request.accept(welcomeBytes.apply(bytes))));
  }

  void disconnect() {
    for (Peer peer : peers) {
      peer.queuePair.close();
    }
    peers.clear();
  }

  /** Where the word of a key is, in {@link #table}; -1: nowhere. */
  public long entryOf(byte[] key) {
    long keyWord = keyWord(key);
    long at = ENTRIES_OFFSET + Entry.bucket(keyWord, BUCKETS) * Entry.BYTES;
    int i = Neighbourhood.nextMatch(table, at, keyWord, 0);
    return i < 0 ? -1 : at + (long) i * Entry.BYTES;
  }

  public int headOf(byte[] key) {
    return Entry.headOf(keyWord(key));
  }

  public long keyWord(byte[] key) {
    return Entry.keyWord(hash.of(MemorySegment.ofArray(key), 0, key.length), HEADS);
  }

  /** Stores an entry in the first free place of a key word's neighbourhood. */
  public long insert(long keyWord, long word) {
    long at = ENTRIES_OFFSET + Entry.bucket(keyWord, BUCKETS) * Entry.BYTES;
    while (table.get(ValueLayout.JAVA_LONG, at + 8) != 0) {
      at += Entry.BYTES;
    }
    table.set(ValueLayout.JAVA_LONG, at, keyWord);
    table.set(ValueLayout.JAVA_LONG, at + 8, word);
    return at;
  }

  public void setWord(long entry, long word) {
    table.set(ValueLayout.JAVA_LONG, entry + 8, word);
  }

  public long word(long entry) {
    return table.get(ValueLayout.JAVA_LONG, entry + 8);
  }

  /** Appends an object; returns its offset. */
  public int append(int head, byte[] key, byte[] value) {
    int bytes =
        ObjectLayout.padded(ObjectLayout.bytes(key.length, value == null ? 0 : value.length));
    int offset = (int) (reserve(head, bytes) >>> 3);
    write(head, offset, key, value);
    return offset;
  }

  /** WRITEs an object to an offset that was reserved. */
  public void write(int head, int offset, byte[] key, byte[] value) {
    long place = (long) offset << 3;
    new ObjectWriter(regions.get(head))
        .write(
            place,
            MemorySegment.ofArray(key),
            0,
            key.length,
            value == null ? null : MemorySegment.ofArray(value),
            0,
            value == null ? 0 : value.length,
            value == null,
            ObjectChecksum.positionMix(head, generation, offset));
  }

  /** Begins the log anew: what lies there is overwritten, as no store may. */
  void rewind() {
    java.util.Arrays.fill(append, Region.HEADER_BYTES);
  }

  public long reserve(int head, int bytes) {
    long place = append[head];
    if (geometry.room(place) < bytes) {
      place = (place | SEGMENT_BYTES - 1) + 1;
    }
    append[head] = place + bytes;
    return place;
  }

  /** Stores a key and value without a client. */
  public void put(String key, String value) {
    byte[] bytes = key.getBytes(UTF_8);
    long keyWord = keyWord(bytes);
    int offset = append(Entry.headOf(keyWord), bytes, value == null ? null : value.getBytes(UTF_8));
    long entry = entryOf(bytes);
    if (entry < 0) {
      insert(keyWord, VersionWord.first(offset, false));
    } else {
      setWord(entry, VersionWord.update(word(entry), offset, false));
    }
  }

  private final class Peer implements CompletionHandler {
    private static final int SLOTS = Protocol.REQUESTS_MAX;
    private static final int BYTES = Protocol.MESSAGE_BYTES_MAX;
    final QueuePair queuePair;
    private final MemorySegment memory = arena.allocate(2L * SLOTS * BYTES, 64);
    private final MemoryRegion region =
        device.register(memory, Backing.none(memory.byteSize()), Access.LOCAL);

    Peer(QueuePair queuePair) {
      this.queuePair = queuePair;
      for (int i = 0; i < SLOTS; i++) {
        queuePair.postReceive(i, region, (long) i * BYTES, BYTES);
      }
    }

    @Override
    public void onCompletion(long wrId, int opcode, int status, int byteLength, int imm) {
      if (opcode == Opcode.DISCONNECT || status != Status.SUCCESS) {
        peers.remove(this);
      } else if (opcode == Opcode.RECEIVE) {
        respond((int) wrId);
        if (peers.contains(this)) {
          queuePair.postReceive(wrId, region, wrId * BYTES, BYTES);
        }
      }
    }

    private void respond(int slot) {
      MemorySegment in = memory.asSlice((long) slot * BYTES, BYTES);
      MemorySegment out = memory.asSlice((long) (SLOTS + slot) * BYTES, BYTES);
      int type = Message.type(in, 0);
      requests.add(type);
      if (takes) {
        queuePair.claims().claim();
      }
      int result = answer.to(type, in);
      if (result == SILENCE) {
        return;
      }
      int length = Message.HEADER_BYTES;
      if (result == Result.OK) {
        int[] lengthAndResult = answered(type, in, out);
        length = lengthAndResult[0];
        result = lengthAndResult[1];
      }
      Message.putHeader(
          out,
          0,
          type,
          result,
          length,
          Message.requestId(in, 0),
          Message.clientId(in, 0),
          Message.connectionEpoch(in, 0));
      length = tamper.response(type, out, length);
      if (writesInstead != 0) {
        queuePair.post(
            Work.writeImm()
                .id(slot)
                .local(region, (long) (SLOTS + slot) * BYTES, 8)
                .remote(writesInstead, 0)
                .imm(1));
        return;
      }
      if (peers.contains(this)) {
        queuePair.post(Work.send().id(slot).local(region, (long) (SLOTS + slot) * BYTES, length));
        queuePair.claims().finish();
      }
    }
  }

  private int[] answered(int type, MemorySegment in, MemorySegment out) {
    try {
      return work(type, in, out);
    } catch (IndexOutOfBoundsException e) {
      if (!misleads) {
        throw e;
      }
      return new int[] {Message.HEADER_BYTES, Result.BAD_REQUEST};
    }
  }

  private int[] work(int type, MemorySegment in, MemorySegment out) {
    return switch (type) {
      case Message.LEASE -> lease(in, out);
      case Message.PUBLISH -> publish(in, out);
      case Message.MAP -> map(in, out);
      case Message.END -> end(in);
      case Message.ERASE -> erase(in, out);
      case Message.STATS -> stats(in, out);
      default -> new int[] {Message.HEADER_BYTES, Result.OK};
    };
  }

  private int[] lease(MemorySegment in, MemorySegment out) {
    int head = Message.getInt(in, Message.LEASE_HEAD);
    int length = Math.max(leaseBytes, Message.getInt(in, Message.LEASE_BYTES_MIN));
    long place = reserve(head, length);
    if (place + length > REGION_BYTES) {
      return new int[] {Message.HEADER_BYTES, Result.LOG_FULL};
    }
    reservations.put(++nextReservation, head);
    Message.putLong(out, Message.LEASED_RESERVATION, nextReservation);
    Message.putLong(out, Message.LEASED_EPOCH, getRoot(Root.EPOCH_OFFSET));
    Message.putInt(out, Message.LEASED_REGION_INDEX, 0);
    Message.putInt(out, Message.LEASED_GENERATION, generation);
    Message.putLong(out, Message.LEASED_PLACE, place);
    Message.putLong(out, Message.LEASED_LENGTH, length);
    Message.putLong(out, Message.LEASED_KEY, regionKeys.get((long) head).remoteKey());
    return new int[] {Message.LEASE_RESPONSE_BYTES, Result.OK};
  }

  /** Ends every reservation, as the server does with idle ones. */
  void endReservations() {
    reservations.clear();
  }

  int openReservations() {
    return reservations.size();
  }

  private int[] publish(MemorySegment in, MemorySegment out) {
    Integer head = reservations.get(Message.getLong(in, Message.PUBLISH_RESERVATION));
    if (head == null || head != Message.getInt(in, Message.PUBLISH_HEAD)) {
      return new int[] {Message.HEADER_BYTES, Result.NO_RESERVATION};
    }
    int offset = Message.getInt(in, Message.PUBLISH_OFFSET);
    long place = geometry.place(offset);
    MemorySegment memory = regions.get(head);
    int bytes = Message.getInt(in, Message.PUBLISH_OBJECT_BYTES);
    long reservation = Message.getLong(in, Message.PUBLISH_RESERVATION);
    if (place < nextPlaces.getOrDefault(reservation, 0L)) {
      refusedPlaces++;
      return new int[] {Message.HEADER_BYTES, Result.NO_RESERVATION};
    }
    nextPlaces.put(reservation, place + ObjectLayout.padded(bytes));
    boolean valid =
        new ObjectChecksum(memory)
                .valid(
                    place,
                    geometry.room(place),
                    ObjectChecksum.positionMix(head, generation, offset))
            && bytes
                == ObjectLayout.bytes(
                    ObjectLayout.keyLength(memory, place), ObjectLayout.valueLength(memory, place));
    if (!valid) {
      return new int[] {Message.HEADER_BYTES, Result.INVALID_OBJECT};
    }
    byte[] key =
        memory
            .asSlice(place + ObjectLayout.KEY_OFFSET, ObjectLayout.keyLength(memory, place))
            .toArray(ValueLayout.JAVA_BYTE);
    if (published != null) {
      long valueAt = place + ObjectLayout.KEY_OFFSET + key.length;
      byte[] value =
          memory
              .asSlice(valueAt, ObjectLayout.valueLength(memory, place))
              .toArray(ValueLayout.JAVA_BYTE);
      published.add(new String(key, UTF_8) + "=" + new String(value, UTF_8));
    }
    long entry = entryOf(key);
    boolean existed =
        entry >= 0
            && !ObjectLayout.tombstone(memory, geometry.place(VersionWord.newest(word(entry))));
    if (entry < 0) {
      insert(keyWord(key), VersionWord.first(offset, false));
    } else {
      setWord(entry, VersionWord.update(word(entry), offset, false));
    }
    Message.putLong(out, Message.PUBLISHED_EXISTED, existed ? 1 : 0);
    return new int[] {Message.PUBLISH_RESPONSE_BYTES, Result.OK};
  }

  private int[] end(MemorySegment in) {
    reservations.remove(Message.getLong(in, Message.END_RESERVATION));
    return new int[] {Message.END_RESPONSE_BYTES, Result.OK};
  }

  private int[] erase(MemorySegment in, MemorySegment out) {
    byte[] key =
        in.asSlice(Message.ERASE_KEY, Message.getInt(in, Message.ERASE_KEY_LENGTH))
            .toArray(ValueLayout.JAVA_BYTE);
    long entry = entryOf(key);
    if (entry >= 0) {
      setWord(entry, 0);
    }
    Message.putLong(out, Message.ERASED_EXISTED, entry >= 0 ? 1 : 0);
    return new int[] {Message.ERASE_RESPONSE_BYTES, Result.OK};
  }

  private int[] map(MemorySegment in, MemorySegment out) {
    int first = Math.clamp(Message.getInt(in, Message.MAP_FROM), 0, HEADS);
    int count = Math.min(mapPage, HEADS - first);
    Message.putLong(out, Message.MAPPED_INCARNATION, getRoot(Root.INCARNATION_OFFSET));
    Message.putLong(out, Message.MAPPED_EPOCH, getRoot(Root.EPOCH_OFFSET));
    boolean two = next != null && !resized;
    Message.putLong(out, Message.MAPPED_TABLE_KEY, resized ? nextKey() : tableRegion.remoteKey());
    Message.putLong(out, Message.MAPPED_ENTRIES_OFFSET, ENTRIES_OFFSET);
    Message.putLong(out, Message.MAPPED_BUCKETS, resized ? nextBuckets : BUCKETS);
    Message.putInt(out, Message.MAPPED_NEIGHBOURHOOD, Neighbourhood.ENTRIES);
    Message.putInt(out, Message.MAPPED_REGIONS, HEADS);
    Message.putInt(out, Message.MAPPED_FIRST, first);
    Message.putInt(out, Message.MAPPED_COUNT, count);
    Message.putLong(out, Message.MAPPED_NEXT_KEY, two ? nextKey() : 0);
    Message.putLong(out, Message.MAPPED_NEXT_BUCKETS, two ? nextBuckets : 0);
    for (int i = 0; i < count; i++) {
      long at = Message.MAPPED_RECORDS + (long) i * Message.RECORD_BYTES;
      Message.putInt(out, at + Message.RECORD_HEAD, first + i);
      Message.putInt(out, at + Message.RECORD_INDEX, 0);
      Message.putLong(out, at + Message.RECORD_GENERATION, generation);
      Message.putLong(out, at + Message.RECORD_KEY, regionKeys.get((long) first + i).remoteKey());
    }
    return new int[] {Message.MAPPED_RECORDS + count * Message.RECORD_BYTES, Result.OK};
  }

  private int[] stats(MemorySegment in, MemorySegment out) {
    String[] names = {"puts", "gets", "größe"};
    int first = Message.getInt(in, Message.STATS_FROM);
    int count = Math.min(2, names.length - first);
    long at = Message.STATS_FIGURES_AT;
    for (int i = 0; i < count; i++) {
      byte[] name = names[first + i].getBytes(UTF_8);
      Message.putLong(out, at, 10L * (first + i));
      out.set(ValueLayout.JAVA_BYTE, at + 8, (byte) name.length);
      MemorySegment.copy(name, 0, out, ValueLayout.JAVA_BYTE, at + 9, name.length);
      at += 9 + name.length;
    }
    Message.putInt(out, Message.STATS_FIGURES, names.length);
    Message.putInt(out, Message.STATS_FIRST, first);
    Message.putLong(out, Message.STATS_COUNT, count);
    return new int[] {(int) at, Result.OK};
  }
}
