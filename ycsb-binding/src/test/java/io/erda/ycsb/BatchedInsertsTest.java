package io.erda.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.measurements.Measurements;
import site.ycsb.measurements.exporter.MeasurementsExporter;

/**
 * Tests the status that YCSB gets for inserts of which several are in flight, and the contents of
 * the store afterwards.
 */
class BatchedInsertsTest {
  private static final String TABLE = "usertable";
  private static final int BATCH = 16;

  /** One fits a segment of a {@link #TINY} store, and leaves room for some small ones. */
  private static final String LARGE = "x".repeat(3000);

  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(16 << 20)
          .withBuckets(4096);

  /** It is full soon, and stays so. */
  private static final ServerOptions TINY =
      ServerOptions.DEFAULTS
          .withHeads(1)
          .withRegionBytes(1 << 16)
          .withSegmentBytes(4096)
          .withCapacityBytes(1 << 17)
          .withBuckets(512)
          .withCleaning(false);

  @TempDir Path data;

  @BeforeAll
  static void measureAsYcsbDoes() {
    Measurements.setProperties(new Properties());
  }

  @Test
  void everyRecordIsThereAfterCleanup() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri(), BATCH);
      for (int i = 0; i < 2000; i++) {
        assertEquals(Status.BATCHED_OK, insert(db, key(i), value(i)));
      }
      db.cleanup();
      ErdaDb reader = connect(server.uri(), 1);
      for (int i = 0; i < 2000; i++) {
        assertEquals(value(i), read(reader, key(i)));
      }
      reader.cleanup();
    }
  }

  @Test
  void insertsOfOneKeyTakeEffectInTheirOrder() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri(), BATCH);
      for (int round = 0; round < 500; round++) {
        int last = round * 10 + round % 10;
        for (int i = round * 10; i <= last; i++) {
          assertTrue(insert(db, "one", value(i)).isOk());
        }
        assertEquals(value(last), read(db, "one"));
      }
      db.cleanup();
    }
  }

  @Test
  void theThreadsOtherOperationsSeeWhatItInserted() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri(), BATCH);
      for (int i = 0; i < 300; i++) {
        assertEquals(Status.BATCHED_OK, insert(db, key(i), value(i)));
        assertEquals(value(i), read(db, key(i)));
        // It reads the record and puts it back with another field.
        assertEquals(Status.BATCHED_OK, insert(db, key(i), "again"));
        assertEquals(Status.OK, db.update(TABLE, key(i), fields("other", "new")));
        assertEquals("again", read(db, key(i)));
        assertEquals(Status.BATCHED_OK, insert(db, key(i), "late"));
        assertEquals(Status.OK, db.delete(TABLE, key(i)));
      }
      db.cleanup();
      ErdaDb reader = connect(server.uri(), 1);
      for (int i = 0; i < 300; i++) {
        assertEquals(Status.NOT_FOUND, reader.read(TABLE, key(i), null, new HashMap<>()));
      }
      reader.cleanup();
    }
  }

  @Test
  void aRecordThatIsTooLargeFailsAloneAmongOthersInFlight() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri(), BATCH);
      assertEquals(Status.BATCHED_OK, insert(db, "first", "x"));
      assertEquals("x", read(db, "first")); // connected: the store's limits are known
      for (int i = 0; i < 40; i++) {
        boolean fits = i % 2 == 0;
        assertEquals(
            fits ? Status.BATCHED_OK : Status.ERROR,
            insert(db, key(i), fits ? value(i) : "x".repeat(1 << 16)));
      }
      db.cleanup();
      ErdaDb reader = connect(server.uri(), 1);
      for (int i = 0; i < 40; i++) {
        assertEquals(i % 2 == 1 ? null : value(i), read(reader, key(i)));
      }
      reader.cleanup();
    }
  }

  /** YCSB retries a failed insert with the same map: it stored fields of 0 bytes, and said OK. */
  @ParameterizedTest
  @ValueSource(ints = {1, BATCH})
  void aFailedInsertLeavesItsValuesReadable(int batch) throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      ErdaDb db = connect(server.uri(), batch);
      assertTrue(insert(db, "first", "x").isOk());
      assertEquals("x", read(db, "first")); // connected: the store's limits are known
      String tooLong = "x".repeat(1 << 16);
      Map<String, ByteIterator> values = fields("field0", tooLong);
      values.put("field1", new StringByteIterator("y"));
      assertEquals(Status.ERROR, db.insert(TABLE, "one", values));
      assertEquals(Status.ERROR, db.insert(TABLE, "one", values), "it was stored without bytes");
      assertEquals(tooLong, values.get("field0").toString());
      assertEquals("y", values.get("field1").toString());
      assertNull(read(db, "one"));
      db.cleanup();
    }
  }

  /** YCSB tries such an insert again with the same values, which can be encoded only once. */
  @Test
  void theNextInsertReportsAFailureAndIsNotDone() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, TINY)) {
      ErdaDb db = connect(server.uri(), BATCH);
      fill(db);
      assertEquals(Status.BATCHED_OK, insert(db, "late", LARGE));
      int number = 0;
      Map<String, ByteIterator> values = fields("field0", "small");
      while (db.insert(TABLE, key(number), values).isOk()) {
        Thread.sleep(
            10); // during this time the server's answer comes; there is room for some small objects
        number++;
        assertTrue(number < 500, "no insert reports the failure");
        values = fields("field0", "small");
      }
      assertNull(read(db, key(number)));
      assertEquals(Status.BATCHED_OK, db.insert(TABLE, key(number), values));
      assertEquals("small", read(db, key(number)));
      long before = reportedErrors();
      db.cleanup();
      assertEquals(before, reportedErrors(), "an operation has reported it");
    }
  }

  @Test
  void anyOperationReportsAFailure() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, TINY)) {
      ErdaDb db = connect(server.uri(), BATCH);
      assertEquals(Status.BATCHED_OK, insert(db, "there", "x"));
      fill(db);
      assertEquals(Status.BATCHED_OK, insert(db, "late", LARGE));
      assertEquals(Status.ERROR, db.read(TABLE, "there", null, new HashMap<>()));
      assertEquals("x", read(db, "there"), "told once");

      assertEquals(Status.BATCHED_OK, insert(db, "late", LARGE));
      assertEquals(Status.ERROR, db.update(TABLE, "there", fields("field0", "y")));

      assertEquals(Status.BATCHED_OK, insert(db, "late", LARGE));
      assertEquals(Status.ERROR, db.delete(TABLE, "there"));
      assertEquals("x", read(db, "there"), "neither updated nor deleted");
      assertNull(read(db, "late"));
      db.cleanup();
    }
  }

  @Test
  void cleanupThrowsWhatNoOperationHasReported() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, TINY)) {
      ErdaDb db = connect(server.uri(), BATCH);
      fill(db);
      long before = reportedErrors();
      assertEquals(Status.BATCHED_OK, insert(db, "late", LARGE));
      DBException thrown = assertThrows(DBException.class, db::cleanup);
      assertTrue(thrown.getMessage().endsWith(": 1"), thrown::getMessage);
      assertEquals(before + 1, reportedErrors(), "YCSB's report has it");
      db.cleanup(); // it has ended
    }
  }

  /** The server goes away under batched inserts: failures are reported, and every call ends. */
  @Test
  void aServerThatIsGoneIsReported() throws Exception {
    ErdaServer server = ErdaServer.start(data, OPTIONS);
    ErdaDb db = connect(server.uri(), BATCH);
    try {
      for (int i = 0; i < 100; i++) {
        assertEquals(Status.BATCHED_OK, insert(db, key(i), value(i)));
      }
    } finally {
      server.close();
    }
    int more = 100;
    while (insert(db, key(more), value(more)).isOk()) {
      more++;
      assertTrue(more < 200, "every insert without a server was called good");
    }
    db.read(TABLE, key(0), null, new HashMap<>()); // finishes the rest, and may report it
    assertEquals(Status.BATCHED_OK, insert(db, "last", value(0)));
    assertThrows(DBException.class, db::cleanup);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "", "1.5", "65", "9999999999"})
  void aBadBatchSizeIsRefusedBeforeAnythingIsConnected(String text) {
    ErdaDb db = new ErdaDb();
    Properties properties = new Properties();
    properties.setProperty(ErdaDb.URI, "erda+shm:" + data);
    properties.setProperty(ErdaDb.BATCH_SIZE, text);
    db.setProperties(properties);
    DBException thrown = assertThrows(DBException.class, db::init);
    assertEquals("property batchsize must be a number from 1 to 64: " + text, thrown.getMessage());
  }

  /** Found by a review: both were passed over, and the load went to the default. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "erda.tabel|false|unknown property erda.tabel: there are erda.uri, erda.table and"
            + " batchsize",
        "erda.table|no|property erda.table must be true or false: no"
      })
  void aPropertyWithoutEffectIsRefused(String name, String value, String message) {
    ErdaDb db = new ErdaDb();
    Properties properties = new Properties();
    properties.setProperty(ErdaDb.URI, "erda+shm:" + data);
    properties.setProperty(name, value);
    db.setProperties(properties);
    assertEquals(message, assertThrows(DBException.class, db::init).getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", " 2 ", "64"})
  void goodBatchSizes(String text) throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      Properties properties = new Properties();
      properties.setProperty(ErdaDb.BATCH_SIZE, text);
      int size = ErdaDb.batchSize(properties);
      ErdaDb db = connect(server.uri(), size);
      Status status = insert(db, "key", "value");
      assertEquals(size == 1 ? Status.OK : Status.BATCHED_OK, status);
      db.cleanup();
    }
  }

  /** Every thread of YCSB may read a record as soon as another thread's insert has returned. */
  @ParameterizedTest
  @ValueSource(strings = {"true", ""})
  void inARunAnInsertIsThereForOthersWhenItReturns(String dotransactions) throws Exception {
    try (ErdaServer server = ErdaServer.start(data, OPTIONS)) {
      Properties properties = new Properties();
      if (!dotransactions.isEmpty()) {
        properties.setProperty(ErdaDb.TRANSACTIONS, dotransactions);
      }
      ErdaDb writer = connect(server.uri(), BATCH, properties);
      ErdaDb reader = connect(server.uri(), BATCH, properties);
      for (int i = 0; i < 300; i++) {
        assertEquals(Status.OK, insert(writer, key(i), value(i)));
        assertEquals(value(i), read(reader, key(i)));
      }
      writer.cleanup();
      reader.cleanup();
    }
  }

  /** Connects a client that loads. */
  private static ErdaDb connect(String uri, int batchSize) throws DBException {
    Properties properties = new Properties();
    properties.setProperty(ErdaDb.TRANSACTIONS, "false");
    return connect(uri, batchSize, properties);
  }

  private static ErdaDb connect(String uri, int batchSize, Properties properties)
      throws DBException {
    properties.setProperty(ErdaDb.URI, uri);
    properties.setProperty(ErdaDb.BATCH_SIZE, Integer.toString(batchSize));
    ErdaDb db = new ErdaDb();
    db.setProperties(properties);
    db.init();
    return db;
  }

  /** Inserts large records one by one until the store has no room for another one. */
  private static void fill(ErdaDb db) {
    for (int i = 0; i < 1000; i++) {
      assertEquals(Status.BATCHED_OK, insert(db, "large" + i, LARGE));
      if (db.read(TABLE, "large" + i, null, new HashMap<>()).equals(Status.ERROR)) {
        return;
      }
    }
    throw new AssertionError("never full");
  }

  private static String key(int i) {
    return "user" + i;
  }

  private static String value(int i) {
    return i + "-".repeat(900 + i % 50);
  }

  private static Map<String, ByteIterator> fields(String name, String value) {
    return StringByteIterator.getByteIteratorMap(Map.of(name, value));
  }

  private static Status insert(ErdaDb db, String key, String value) {
    return db.insert(TABLE, key, fields("field0", value));
  }

  /** The value of the field, or null when there is no such record. */
  private static String read(ErdaDb db, String key) {
    Map<String, ByteIterator> result = new HashMap<>();
    Status status = db.read(TABLE, key, null, result);
    if (status.equals(Status.NOT_FOUND)) {
      return null;
    }
    assertEquals(Status.OK, status);
    return result.get("field0").toString();
  }

  /** Errors of inserts that YCSB would report now. */
  private static long reportedErrors() throws IOException {
    Errors errors = new Errors();
    Measurements.getMeasurements().exportMeasurements(errors);
    return errors.count;
  }

  private static final class Errors implements MeasurementsExporter {
    private long count;

    @Override
    public void write(String metric, String measurement, int value) {
      count += metric.equals("INSERT") && measurement.equals("Return=ERROR") ? value : 0;
    }

    @Override
    public void write(String metric, String measurement, long value) {}

    @Override
    public void write(String metric, String measurement, double value) {}

    @Override
    public void close() {}
  }
}
