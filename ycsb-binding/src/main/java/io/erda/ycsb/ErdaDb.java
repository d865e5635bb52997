package io.erda.ycsb;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.ycsb.RecordFormat.DamagedRecordException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB's database over an Erda client, for the stock {@code site.ycsb.Client}: {@code -db
 * io.erda.ycsb.ErdaDb -p erda.uri=URI}.
 *
 * <p>Each instance, and so each YCSB thread, owns one connection. A record is one value, see {@code
 * FORMAT.md}.
 *
 * <p>Properties:
 *
 * <ul>
 *   <li>{@code erda.uri}: the store, e.g. {@code erda+shm:/var/lib/erda}. Required.
 *   <li>{@code erda.table}: whether the table's name is part of the key; {@code true} by default.
 * </ul>
 *
 * <p>Answers: {@code NOT_FOUND} when the key is absent, {@code ERROR} and a line on standard error
 * when the store or the record says so, {@code NOT_IMPLEMENTED} for {@link #scan}: a hash index
 * keeps no order.
 *
 * <p>{@link #update} replaces the named fields. It reads the record and puts it back merged, which
 * is not atomic: of two updates of different fields at the same moment one can get lost, as with
 * every key-value store behind YCSB. When it is given at least {@code fieldcount} fields (YCSB's
 * property, 10 by default; {@code writeallfields=true} makes the core workload do so) it is one put
 * without a read, and then creates a record that is absent.
 */
public final class ErdaDb extends DB {
  /** The store to connect to. */
  public static final String URI = "erda.uri";

  /** Whether the table's name is part of the key. */
  public static final String TABLE = "erda.table";

  private static final int ERRORS_SHOWN_MAX = 10;

  private final RecordFormat format = new RecordFormat();
  private ErdaClient client;
  private RecordKey keys;
  private int fieldsOfRecord;
  private byte[] value = new byte[16 << 10];
  private MemorySegment valueSegment = MemorySegment.ofArray(value);
  private int errors;

  @Override
  public void init() throws DBException {
    Properties properties = getProperties();
    String uri = properties.getProperty(URI);
    if (uri == null || uri.isBlank()) {
      throw new DBException(
          "property " + URI + " is missing, for example -p " + URI + "=erda+shm:/var/lib/erda");
    }
    keys = new RecordKey(Boolean.parseBoolean(properties.getProperty(TABLE, "true")));
    fieldsOfRecord = fieldCount(properties.getProperty("fieldcount", "10"));
    try {
      client = ErdaClient.connect(uri);
    } catch (ErdaException e) {
      throw new DBException(e.getMessage(), e);
    }
  }

  @Override
  public void cleanup() {
    if (client != null) {
      client.close();
      client = null;
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    try {
      int length = get(keys.of(table, key));
      if (length < 0) {
        return Status.NOT_FOUND;
      }
      // The result outlives this call, our memory does not.
      format.decode(Arrays.copyOf(value, length), length, fields, result);
      return Status.OK;
    } catch (ErdaException | DamagedRecordException e) {
      return error("read", table, key, e);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    try {
      MemorySegment erdaKey = keys.of(table, key);
      if (values.size() >= fieldsOfRecord) {
        format.encode(values);
      } else {
        int length = get(erdaKey);
        if (length < 0) {
          return Status.NOT_FOUND;
        }
        format.merge(value, length, values);
      }
      put(erdaKey);
      return Status.OK;
    } catch (ErdaException | DamagedRecordException e) {
      return error("update", table, key, e);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    try {
      format.encode(values);
      put(keys.of(table, key));
      return Status.OK;
    } catch (ErdaException e) {
      return error("insert", table, key, e);
    }
  }

  @Override
  public Status delete(String table, String key) {
    try {
      return client.delete(keys.of(table, key)) ? Status.OK : Status.NOT_FOUND;
    } catch (ErdaException e) {
      return error("delete", table, key, e);
    }
  }

  /** Not there: a hash index keeps no order. */
  @Override
  public Status scan(
      String table,
      String startKey,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  /** Gets into {@link #value}; returns the length, or -1. */
  private int get(MemorySegment key) {
    long length = client.get(key, valueSegment);
    while (length > value.length) { // again: another client may put a longer one meanwhile
      value = new byte[Math.toIntExact(Math.max(length, value.length * 2L))];
      valueSegment = MemorySegment.ofArray(value);
      length = client.get(key, valueSegment);
    }
    return (int) length;
  }

  private void put(MemorySegment key) {
    client.put(key, MemorySegment.ofArray(format.bytes()).asSlice(0, format.length()));
  }

  private Status error(String operation, String table, String key, RuntimeException e) {
    errors++;
    if (errors <= ERRORS_SHOWN_MAX) {
      System.err.println("erda: " + operation + " " + table + "/" + key + ": " + e.getMessage());
      if (errors == ERRORS_SHOWN_MAX) {
        System.err.println("erda: further errors of this thread are counted, not shown");
      }
    }
    return Status.ERROR;
  }

  private static int fieldCount(String text) throws DBException {
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      throw new DBException("property fieldcount is not a number: " + text, e);
    }
  }
}
