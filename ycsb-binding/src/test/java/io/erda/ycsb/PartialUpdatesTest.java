package io.erda.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** Updates of some fields of a record, by several threads at once. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PartialUpdatesTest {
  private static final String TABLE = "usertable";
  private static final int UPDATES = 3000;

  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(16 << 20)
          .withBuckets(4096);

  @TempDir Path data;

  @Test
  void noneGetsLostWhereTwoThreadsUpdateOneRecord() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri());
      assertEquals(Status.OK, db.insert(TABLE, "record", fields("first", "none")));
      CompletableFuture<Void> first =
          CompletableFuture.runAsync(() -> update(server.uri(), "first"));
      CompletableFuture<Void> second =
          CompletableFuture.runAsync(() -> update(server.uri(), "second"));
      first.get();
      second.get();
      assertEquals("value " + (UPDATES - 1), read(db, "first"));
      assertEquals("value " + (UPDATES - 1), read(db, "second"));
      db.cleanup();
    }
  }

  /** Updates a field that no other thread updates, so each value stays until the next one. */
  private static void update(String uri, String field) {
    try {
      ErdaDb db = connect(uri);
      for (int i = 0; i < UPDATES; i++) {
        assertEquals(Status.OK, db.update(TABLE, "record", fields(field, "value " + i)));
        assertEquals("value " + i, read(db, field));
      }
      db.cleanup();
    } catch (DBException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRecordThatIsAbsentIsNotMade() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri());
      assertEquals(Status.NOT_FOUND, db.update(TABLE, "absent", fields("first", "x")));
      assertEquals(Status.NOT_FOUND, db.read(TABLE, "absent", null, new HashMap<>()));
      db.cleanup();
    }
  }

  private static ErdaDb connect(String uri) throws DBException {
    Properties properties = new Properties();
    properties.setProperty(ErdaDb.URI, uri);
    ErdaDb db = new ErdaDb();
    db.setProperties(properties);
    db.init();
    return db;
  }

  private static Map<String, ByteIterator> fields(String name, String value) {
    return StringByteIterator.getByteIteratorMap(Map.of(name, value));
  }

  private static String read(ErdaDb db, String field) {
    Map<String, ByteIterator> record = new HashMap<>();
    assertEquals(Status.OK, db.read(TABLE, "record", null, record));
    return record.get(field).toString();
  }
}
