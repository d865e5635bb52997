package io.erda.client;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectChecksum;

/**
 * Where an object lies that a version word names: the arithmetic from the offset in the word to the
 * region's remote key and the place in the region. Reused for the next one.
 */
final class ObjectPlace {
  int head;

  /** Offset along the head's regions, as the version word names it. */
  int offset;

  int generation;
  long remoteKey;

  /** Place in the region, bytes. */
  long place;

  /** Bytes up to the end of the segment, which no object crosses. */
  long room;

  /** Finds an offset of a head. Returns false when the map names no region there. */
  boolean find(LogGeometry geometry, RegionMap map, int ofHead, int at) {
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

  int positionMix() {
    return ObjectChecksum.positionMix(head, generation, offset);
  }
}
