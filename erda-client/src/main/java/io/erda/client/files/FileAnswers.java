package io.erda.client.files;

import io.erda.hashtable.HashTable;
import io.erda.logstore.LogReading;
import io.erda.protocol.Handshake.Welcome;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Result;
import io.erda.protocol.StoreTables;
import io.erda.protocol.WelcomeBuilder;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Answers the requests of a client as a server would, but from the files: the welcome, MAP,
 * RESOLVE, LEFT, and REPORT, which changes nothing here. All other requests are refused, because
 * the client only reads.
 */
final class FileAnswers {
  /** This client has the only connection of its device, so any number will do. */
  private static final int CLIENT_ID = 1;

  private static final int CONNECTION_EPOCH = 1;

  /** The result of {@link #answer} while the map can't be read. */
  static final int LATER = 0;

  private final MapReader reader;
  private final DamageSearch search;
  private final long incarnation;
  private StoreSnapshot map;

  /** The slots of the linked regions of {@link #map}, in ascending order. */
  private int[] slots;

  FileAnswers(MapReader reader, ReachedFiles files, StoreSnapshot first) {
    this.reader = reader;
    this.search = new DamageSearch(reader, files, first);
    this.incarnation = first.incarnation();
    use(first);
  }

  /** The map of the last answer. */
  StoreSnapshot map() {
    return map;
  }

  private void use(StoreSnapshot newer) {
    map = newer;
    slots = new int[newer.regions()];
    int count = 0;
    for (int slot = 0; slot < newer.linkWords().length; slot++) {
      if (LogReading.isLinked(newer.linkWords()[slot])) {
        slots[count++] = slot;
      }
    }
  }

  Welcome welcome() {
    return new WelcomeBuilder()
        .store(map.superblock().store())
        .incarnation(map.incarnation())
        .rootKey(ReachedFiles.ROOT)
        .hashSeed(map.superblock().hashSeed())
        .regionBytes(map.geometry().regionBytes())
        .segmentBytes(map.geometry().segmentBytes())
        .heads(map.geometry().heads())
        .promise(map.superblock().promise())
        .putMode(map.superblock().putMode().code())
        .clientId(CLIENT_ID)
        .connectionEpoch(CONNECTION_EPOCH)
        .keyBytesMax(map.geometry().keyBytesMax(Protocol.KEY_BYTES_MAX))
        .valueBytesMax(map.geometry().valueBytesMax())
        .messageBytesMax(Protocol.MESSAGE_BYTES_MAX)
        .build();
  }

  /**
   * Answers a request.
   *
   * @param out receives the answer; has room for {@link Protocol#MESSAGE_BYTES_MAX}
   * @return bytes of the answer; {@link #LATER} when there is no answer yet; call it again later
   * @throws NotReadable when the store can't be read any more
   */
  int answer(MemorySegment in, long at, int received, MemorySegment out, long to)
      throws NotReadable {
    return switch (Message.type(in, at)) {
      case Message.MAP -> map(in, at, out, to);
      case Message.RESOLVE -> header(in, at, resolve(in, at, received), out, to);
      case Message.LEFT, Message.REPORT -> header(in, at, Result.OK, out, to);
      default -> header(in, at, Result.BAD_REQUEST, out, to);
    };
  }

  private static int header(MemorySegment in, long at, int result, MemorySegment out, long to) {
    return header(in, at, result, out, to, Message.HEADER_BYTES);
  }

  private static int header(
      MemorySegment in, long at, int result, MemorySegment out, long to, int length) {
    Message.putHeader(
        out,
        to,
        Message.type(in, at),
        result,
        length,
        Message.requestId(in, at),
        Message.clientId(in, at),
        Message.connectionEpoch(in, at));
    return length;
  }

  /** Answers MAP: the first page reads the current map, and further pages are of the same map. */
  private int map(MemorySegment in, long at, MemorySegment out, long to) throws NotReadable {
    int first = Math.clamp(Message.getInt(in, at + Message.MAP_FROM), 0, slots.length);
    if (first == 0) {
      StoreSnapshot now = reader.read();
      if (now == null) {
        return LATER;
      }
      if (now.incarnation() != incarnation) {
        // The files that the old server's map names may be gone. Then no look-up gets as far as the
        // READ of the root, which would show the new incarnation.
        throw new NotReadable(Status.FENCED, "another server has the store");
      }
      use(now);
    }
    int count = Math.min(slots.length - first, Message.RECORDS_MAX);
    StoreTables tables = map.superblock().tables();
    boolean resizing = tables.resizing();
    Message.putLong(out, to + Message.MAPPED_INCARNATION, incarnation);
    Message.putLong(out, to + Message.MAPPED_EPOCH, map.epoch());
    Message.putLong(out, to + Message.MAPPED_TABLE_KEY, ReachedFiles.tableKey(tables.generation()));
    Message.putLong(out, to + Message.MAPPED_ENTRIES_OFFSET, HashTable.entriesOffset());
    Message.putLong(out, to + Message.MAPPED_BUCKETS, tables.buckets());
    Message.putInt(out, to + Message.MAPPED_NEIGHBOURHOOD, HashTable.neighbourhood());
    Message.putInt(out, to + Message.MAPPED_REGIONS, slots.length);
    Message.putInt(out, to + Message.MAPPED_FIRST, first);
    Message.putInt(out, to + Message.MAPPED_COUNT, count);
    Message.putLong(
        out,
        to + Message.MAPPED_NEXT_KEY,
        resizing ? ReachedFiles.tableKey(tables.nextGeneration()) : 0);
    Message.putLong(out, to + Message.MAPPED_NEXT_BUCKETS, resizing ? tables.nextBuckets() : 0);
    for (int i = 0; i < count; i++) {
      int slot = slots[first + i];
      long linkWord = map.linkWords()[slot];
      long record = to + Message.MAPPED_RECORDS + (long) i * Message.RECORD_BYTES;
      Message.putInt(out, record + Message.RECORD_HEAD, LogReading.head(linkWord));
      Message.putInt(out, record + Message.RECORD_INDEX, LogReading.index(linkWord));
      Message.putLong(
          out, record + Message.RECORD_GENERATION, LogReading.generation(linkWord) & 0xFFFF_FFFFL);
      Message.putLong(out, record + Message.RECORD_KEY, ReachedFiles.regionKey(slot, linkWord));
    }
    return header(
        in, at, Result.OK, out, to, Message.MAPPED_RECORDS + count * Message.RECORD_BYTES);
  }

  private int resolve(MemorySegment in, long at, int received) throws NotReadable {
    int length = Message.getInt(in, at + Message.RESOLVE_KEY_LENGTH);
    if (length < 1 || length > received - Message.RESOLVE_KEY) {
      return Result.BAD_REQUEST;
    }
    byte[] key = in.asSlice(at + Message.RESOLVE_KEY, length).toArray(ValueLayout.JAVA_BYTE);
    return search.isDamaged(key) ? Result.DAMAGED : Result.OK;
  }
}
