package io.erda.client.gets;

import io.erda.client.connections.RegionMap;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;

/**
 * The place of an object that a version word names: computes the region's remote key and the place
 * in the region from the word's offset. Reused.
 */
public final class ObjectPlace {
  public int head;

  /** The offset along the head's regions, as it is in the version word. */
  public int offset;

  public int generation;
  public long remoteKey;

  /** The place in the region, in bytes. */
  public long place;

  /** Bytes up to the end of the segment, which no object crosses. */
  public long room;

  /**
   * Computes the place of an offset of a head. Returns false when the map names no region there.
   */
  public boolean find(LogGeometry geometry, RegionMap map, int ofHead, int at) {
    head = ofHead;
    offset = at;
    int index = geometry.regionIndex(at);
    remoteKey = map.remoteKey(ofHead, index);
    if (remoteKey == RegionMap.NONE) {
      return false;
    }
    generation = map.generation(ofHead, index);
    place = geometry.place(at);
    room = geometry.room(place);
    return true;
  }

  public int positionMix() {
    return ObjectChecksum.positionMix(head, generation, offset);
  }
}
