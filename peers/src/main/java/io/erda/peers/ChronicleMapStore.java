package io.erda.peers;

import io.erda.eval.peers.store.PeerPlace;
import io.erda.eval.peers.store.PeerStore;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;

/** A Chronicle Map in a file, of byte arrays of constant size, which are read into one of ours. */
public class ChronicleMapStore implements PeerStore {
  private final ChronicleMap<byte[], byte[]> map;
  private final boolean isOwner;
  private final byte[] key = new byte[KEY_BYTES];
  private final byte[] value;
  private final byte[] got;
  private final ByteBuffer keyBuffer = ByteBuffer.wrap(key).order(ByteOrder.nativeOrder());
  private final ByteBuffer valueBuffer;
  private final ByteBuffer gotBuffer;

  /** A store that is there was killed: it is recovered. */
  public ChronicleMapStore(PeerPlace place) throws IOException {
    this(place, false);
  }

  /**
   * @param joins whether another process has the store open, so that there is nothing to recover
   */
  ChronicleMapStore(PeerPlace place, boolean joins) throws IOException {
    this(open(place, joins), place.valueBytes(), true);
  }

  private ChronicleMapStore(ChronicleMap<byte[], byte[]> map, int valueBytes, boolean isOwner) {
    this.map = map;
    this.isOwner = isOwner;
    this.value = new byte[valueBytes];
    this.got = new byte[valueBytes];
    this.valueBuffer = ByteBuffer.wrap(value).order(ByteOrder.nativeOrder());
    this.gotBuffer = ByteBuffer.wrap(got).order(ByteOrder.nativeOrder());
  }

  private static ChronicleMap<byte[], byte[]> open(PeerPlace place, boolean joins)
      throws IOException {
    ChronicleMapBuilder<byte[], byte[]> builder =
        ChronicleMapBuilder.of(byte[].class, byte[].class)
            .constantKeySizeBySample(new byte[KEY_BYTES])
            .constantValueSizeBySample(new byte[place.valueBytes()])
            .entries(place.objects())
            .putReturnsNull(true);
    File file = Path.of(place.location(), "map").toFile();
    return file.exists() && !joins
        ? builder.recoverPersistedTo(file, true)
        : builder.createPersistedTo(file);
  }

  @Override
  public final ByteBuffer key() {
    return keyBuffer;
  }

  @Override
  public final ByteBuffer value() {
    return valueBuffer;
  }

  @Override
  public final ByteBuffer got() {
    return gotBuffer;
  }

  /** One map is for all threads of a process. */
  @Override
  public final PeerStore another() {
    return new ChronicleMapStore(map, value.length, false);
  }

  @Override
  public final void put() {
    map.put(key, value);
  }

  @Override
  public final int get() {
    byte[] read = map.getUsing(key, got);
    if (read != null && read != got) {
      System.arraycopy(read, 0, got, 0, read.length);
    }
    return read == null ? -1 : read.length;
  }

  @Override
  public final String durability() {
    return "kill of the process, but not inside a put";
  }

  @Override
  public final void close() {
    if (isOwner) {
      map.close();
    }
  }
}
