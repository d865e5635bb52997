package io.erda.client.gets;

import io.erda.client.connections.RegionMap;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;

/**
 * Where an object lies that a version word names: the arithmetic from the offset in the word to the
 * region's remote key and the place in the region. Reused for the next one.
 */
public final class ObjectPlace {
  public int head;

  /** Offset along the head's regions, as the version word names it. */
  public int offset;

  public int generation;
  public long remoteKey;

  /** Place in the region, bytes. */
  public long place;

  /** Bytes up to the end of the segment, which no object crosses. */
  public long room;

  /** Finds an offset of a head. Returns false when the map names no region there. */
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
