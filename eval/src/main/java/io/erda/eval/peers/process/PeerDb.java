package io.erda.eval.peers.process;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * YCSB's database over any store: the binding is the same for all, so that differences are due to
 * the stores. A record is one object with one field; YCSB's key ends with the object's number. One
 * thread.
 */
final class PeerDb extends DB {
  private static final String FIELD = "field0";
  private static final int PREFIX = "user".length();

  private final PeerObjects objects;
  private final byte[] value;

  PeerDb(PeerObjects objects) {
    this.objects = objects;
    this.value = new byte[objects.valueBytes()];
  }

  private static long number(String key) {
    return Long.parseLong(key, PREFIX, key.length(), 10);
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    result.put(FIELD, new ByteArrayByteIterator(objects.copyOf(number(key))));
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    ByteIterator field = values.get(FIELD);
    if (field == null || field.bytesLeft() != objects.valueBytes()) {
      return Status.BAD_REQUEST;
    }
    field.nextBuf(value, 0);
    objects.put(number(key), value);
    return Status.OK;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return update(table, key, values);
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status scan(
      String table,
      String startKey,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }
}
