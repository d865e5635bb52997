package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.Extent;
import io.erda.logstore.LeaseResult;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.ObjectWriter;
import io.erda.logstore.Region;
import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.StoreWishes;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.inspection.StoreInspection;
import io.erda.server.engine.publishing.PublishRequest;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Drives an engine as the server core does, without connections: one writer with an extent per
 * object.
 */
public final class StoreHarness {
  public static final StoreGeometry TINY =
      new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 8), 16);

  /** Four slots a step, so that much happens in the middle. */
  public static final TableGrowthOptions SLOWLY =
      new TableGrowthOptions(StoreGeometry.BUCKETS_MAX, 4, 0);

  public final StoreEngine engine;
  public final StoreWriter writer;
  private long nowNs;
  private final PublishRequest[] batch = new PublishRequest[16];
  private int batched;

  private StoreHarness(StoreEngine engine, TableGrowthOptions growth) {
    this(engine, new StoreWriter(engine, growth));
  }

  private StoreHarness(StoreEngine engine, StoreWriter writer) {
    this.engine = engine;
    this.writer = writer;
  }

  public static StoreHarness open(MemoryDirectory directory) {
    return open(directory, TINY);
  }

  public static StoreHarness open(MemoryDirectory directory, StoreGeometry geometry) {
    return open(directory, geometry, SLOWLY);
  }

  public static StoreHarness open(
      MemoryDirectory directory, StoreGeometry geometry, TableGrowthOptions growth) {
    return open(directory, geometry, growth, new Random(7));
  }

  static StoreHarness open(
      MemoryDirectory directory, StoreGeometry geometry, TableGrowthOptions growth, Random random) {
    return new StoreHarness(StoreOpening.open(directory, geometry, random), growth);
  }

  /** Opens a store that exists, with another capacity. */
  public static StoreHarness open(MemoryDirectory directory, StoreWishes wishes) {
    return new StoreHarness(
        StoreOpening.open(directory, null, wishes, null, new Random(7)), SLOWLY);
  }

  /** Puts one value, or deletes with null; returns the server's result. */
  public int put(String key, byte[] value) {
    if (add(key, value) == null) {
      return Result.LOG_FULL;
    }
    int result = publish()[0];
    grow();
    return result;
  }

  /** A step of the table's growth, a millisecond after the one before. */
  public int grow() {
    return writer.growth().doWork(nowNs += 1_000_000);
  }

  /** Over a store that is open. */
  static StoreHarness over(StoreEngine engine, StoreWriter writer) {
    return new StoreHarness(engine, writer);
  }

  /** Closes the store, in order. */
  public void close() {
    writer.close();
  }

  /** Writes an object to the log and adds its publication to the batch; null when it is full. */
  public PublishRequest add(String key, byte[] value) {
    byte[] keyBytes = key.getBytes();
    byte[] valueBytes = value == null ? new byte[0] : value;
    long keyWord = engine.keyWord(MemorySegment.ofArray(keyBytes), 0, keyBytes.length);
    int bytes = ObjectLayout.bytes(keyBytes.length, valueBytes.length);
    Extent extent =
        switch (engine.log().lease(Entry.headOf(keyWord), bytes, bytes)) {
          case LeaseResult.Leased leased -> leased.extent();
          case LeaseResult full -> null;
        };
    if (extent == null) {
      return null;
    }
    Region region = extent.region();
    int offset = engine.log().geometry().offset(region.index(), extent.place());
    MemorySegment object = Arena.ofAuto().allocate(ObjectLayout.padded(bytes), 8);
    new ObjectWriter(object)
        .write(
            0,
            MemorySegment.ofArray(keyBytes),
            0,
            keyBytes.length,
            MemorySegment.ofArray(valueBytes),
            0,
            valueBytes.length,
            value == null,
            ObjectChecksum.positionMix(region.head(), region.generation(), offset));
    region.memory().put(extent.place(), object, 0, object.byteSize());
    PublishRequest request = new PublishRequest();
    request.extent = extent;
    request.place = extent.place();
    request.offset = offset;
    request.bytes = bytes;
    request.delete = value == null;
    batch[batched++] = request;
    return request;
  }

  public int[] publish() {
    writer.publication().begin(batch, batched);
    assertTrue(writer.publication().advance(), "nothing waits for a device");
    int[] results = new int[batched];
    for (int i = 0; i < batched; i++) {
      results[i] = batch[i].result;
      writer.publication().settle();
      engine.log().end(batch[i].extent);
    }
    batched = 0;
    return results;
  }

  /** The committed value of a key, or null. */
  public byte[] get(String key) {
    byte[] keyBytes = key.getBytes();
    MemorySegment keySegment = MemorySegment.ofArray(keyBytes);
    long keyWord = engine.keyWord(keySegment, 0, keyBytes.length);
    long entry = engine.find(keyWord, keySegment, 0, keyBytes.length);
    if (entry == Tables.NONE) {
      return null;
    }
    int offset = VersionWord.committed(engine.tables().versionWord(entry));
    if (offset == VersionWord.NONE) {
      return null;
    }
    MemorySegment memory = engine.log().region(Entry.headOf(keyWord), offset).memory().segment();
    long place = engine.log().geometry().place(offset);
    assertEquals(true, engine.objects().valid(Entry.headOf(keyWord), offset), "torn: " + key);
    return ObjectLayout.tombstone(memory, place)
        ? null
        : memory
            .asSlice(
                place + ObjectLayout.KEY_OFFSET + keyBytes.length,
                ObjectLayout.valueLength(memory, place))
            .toArray(ValueLayout.JAVA_BYTE);
  }

  /** The findings of an inspection of the store. */
  public List<String> findings() {
    List<String> findings = new ArrayList<>();
    new StoreInspection(
            engine,
            (key, what) -> findings.add((key == null ? "?" : new String(key)) + ": " + what))
        .run();
    return findings;
  }

  public void requireOk(int result) {
    assertEquals(Result.OK, result, Result.name(result));
  }
}
