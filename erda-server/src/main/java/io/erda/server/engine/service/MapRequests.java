package io.erda.server.engine.service;

import io.erda.hashtable.HashTable;
import io.erda.logstore.Region;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.tables.Tables;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Answers MAP requests, by which clients learn the tables and regions. Tables and regions that
 * could not be registered, because the device's memory had no room, are left out. They are empty,
 * and stay empty until the store is opened again.
 */
final class MapRequests {
  private final StoreEngine engine;

  MapRequests(StoreEngine engine) {
    this.engine = engine;
  }

  void onMap(Connection connection, int slot, MemorySegment in, long at, int received) {
    if (received != Message.MAP_REQUEST_BYTES) {
      connection.respond(slot, Message.MAP, Result.BAD_REQUEST, Message.HEADER_BYTES);
      return;
    }
    Tables tables = engine.tables();
    List<Region> regions = reachable(connection.port);
    long nextKey = connection.port.keyOf(tables.next());
    int first = Math.clamp(Message.getInt(in, at + Message.MAP_FROM), 0, regions.size());
    int count = Math.min(regions.size() - first, Message.RECORDS_MAX);
    connection.mapEpoch = engine.root().epoch();
    MemorySegment out = connection.buffers();
    long to = Connection.responseAt(slot);
    Message.putLong(out, to + Message.MAPPED_INCARNATION, engine.root().incarnation());
    Message.putLong(out, to + Message.MAPPED_EPOCH, engine.root().epoch());
    Message.putLong(out, to + Message.MAPPED_TABLE_KEY, connection.port.keyOf(tables.current()));
    Message.putLong(out, to + Message.MAPPED_ENTRIES_OFFSET, HashTable.entriesOffset());
    Message.putLong(out, to + Message.MAPPED_BUCKETS, tables.current().table().buckets());
    Message.putInt(out, to + Message.MAPPED_NEIGHBOURHOOD, HashTable.neighbourhood());
    Message.putInt(out, to + Message.MAPPED_REGIONS, regions.size());
    Message.putInt(out, to + Message.MAPPED_FIRST, first);
    Message.putInt(out, to + Message.MAPPED_COUNT, count);
    Message.putLong(out, to + Message.MAPPED_NEXT_KEY, nextKey);
    Message.putLong(
        out, to + Message.MAPPED_NEXT_BUCKETS, nextKey == 0 ? 0 : tables.next().table().buckets());
    for (int i = 0; i < count; i++) {
      Region region = regions.get(first + i);
      long record = to + Message.MAPPED_RECORDS + (long) i * Message.RECORD_BYTES;
      Message.putInt(out, record + Message.RECORD_HEAD, region.head());
      Message.putInt(out, record + Message.RECORD_INDEX, region.index());
      Message.putLong(out, record + Message.RECORD_GENERATION, region.generation() & 0xFFFF_FFFFL);
      Message.putLong(out, record + Message.RECORD_KEY, connection.port.keyOf(region));
    }
    connection.respond(
        slot, Message.MAP, Result.OK, Message.MAPPED_RECORDS + count * Message.RECORD_BYTES);
  }

  private List<Region> reachable(Port port) {
    List<Region> all = engine.log().regions();
    for (Region region : all) {
      if (port.keyOf(region) == 0) {
        return all.stream().filter(each -> port.keyOf(each) != 0).toList();
      }
    }
    return all;
  }
}
