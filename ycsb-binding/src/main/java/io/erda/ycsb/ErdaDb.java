package io.erda.ycsb;

import io.erda.client.ClientOptions;
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
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;

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
 *   <li>{@code batchsize}: the most inserts of a thread in flight while the store is loaded, 1 to
 *       64; 1 by default.
 * </ul>
 *
 * <p>Answers: {@code NOT_FOUND} when the key is absent, {@code ERROR} and a line on standard error
 * when the store fails or the record is damaged, {@code NOT_IMPLEMENTED} for {@link #scan}: a hash
 * index keeps no order.
 *
 * <p>{@link #update} replaces the named fields. It reads the record and puts the merged one if the
 * record is unchanged, and otherwise starts over: of two concurrent updates of different fields
 * none is lost. When it is given at least {@code fieldcount} fields (YCSB's property, 10 by
 * default; {@code writeallfields=true} makes the core workload do so) it is one put without a read,
 * and then creates a record that is absent.
 *
 * <p>With a {@code batchsize} of more than 1 a thread that loads ({@code -load}, {@code
 * dotransactions=false}) has a second connection, for its inserts. In a run an insert is done when
 * {@link #insert} returns, whatever the batch size, because YCSB lets every thread read the record
 * from then on, as workload D does, and would count a missing one as {@code NOT_FOUND}. While
 * loading, {@link #insert} waits only for room in the pipeline, and answers {@code BATCHED_OK}: the
 * insert is in flight. Other operations of the thread first finish the inserts in flight, so they
 * see them; other threads see an insert when it is done. When inserts in flight failed, the
 * thread's next operation answers {@code ERROR} for all of them and does nothing itself. Failures
 * that no operation has reported make {@link #cleanup} throw, and count as {@code ERROR} of INSERT
 * in YCSB's measurements, because YCSB's client only prints the exception.
 */
public final class ErdaDb extends DB {
  /** The store to connect to. */
  public static final String URI = "erda.uri";

  /** Whether the table's name is part of the key. */
  public static final String TABLE = "erda.table";

  /** The most inserts of a thread in flight. */
  public static final String BATCH_SIZE = "batchsize";

  /** YCSB's property that tells whether it runs transactions, or loads. */
  public static final String TRANSACTIONS = Client.DO_TRANSACTIONS_PROPERTY;

  private static final int ERRORS_SHOWN_MAX = 10;

  /**
   * A property that the first thread sets when it has printed the hint; all threads share the
   * properties.
   */
  private static final String TOLD = "erda.batchsize.told";

  /** YCSB's name of the operation in its measurements. */
  private static final String INSERT = "INSERT";

  private final RecordFormat format = new RecordFormat();
  private ErdaClient client;

  /**
   * Null in a run, and with a batch size of 1: then inserts are done one at a time, over {@link
   * #client}.
   */
  private InsertPipeline inserts;

  /** Null when {@link #inserts} is null. */
  private Measurements measurements;

  private RecordKey keys;
  private int fieldsOfRecord;
  private byte[] value = new byte[16 << 10];
  private MemorySegment valueSegment = MemorySegment.ofArray(value);
  private int errors;

  /**
   * The value of {@link #BATCH_SIZE} in these properties.
   *
   * @throws DBException when it is not a number, or out of its range
   */
  static int batchSize(Properties properties) throws DBException {
    String text = properties.getProperty(BATCH_SIZE, "1");
    int size;
    try {
      size = Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      size = 0; // out of its range, too
    }
    if (size < 1 || size > ClientOptions.PIPELINE_DEPTH_MAX) {
      throw new DBException(
          "property "
              + BATCH_SIZE
              + " must be a number from 1 to "
              + ClientOptions.PIPELINE_DEPTH_MAX
              + ": "
              + text);
    }
    return size;
  }

  /** Whether YCSB runs transactions, which is its default. */
  private static boolean isRun(Properties properties) {
    return Boolean.parseBoolean(properties.getProperty(TRANSACTIONS, "true"));
  }

  /** Prints once that a batch size has no effect in a run. */
  private static int one(Properties properties) throws DBException {
    int asked = batchSize(properties);
    if (asked > 1 && properties.putIfAbsent(TOLD, "true") == null) {
      System.err.println(
          "erda: "
              + BATCH_SIZE
              + "="
              + asked
              + " has no effect in a run: YCSB lets others read a record as soon as its insert"
              + " returns, so each insert is done by then; it counts with -load");
    }
    return 1;
  }

  /**
   * Checks the properties of this binding.
   *
   * @throws DBException when one has a value that is none of its own, or is unknown and so would
   *     have no effect
   */
  public static void requireValid(Properties properties) throws DBException {
    requireKnown(properties);
    hasTable(properties);
    batchSize(properties);
    fieldCount(properties);
  }

  private static void requireKnown(Properties properties) throws DBException {
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith("erda.") && !Set.of(URI, TABLE, TOLD).contains(name)) {
        throw new DBException(
            "unknown property "
                + name
                + ": there are "
                + URI
                + ", "
                + TABLE
                + " and "
                + BATCH_SIZE);
      }
    }
  }

  private static boolean hasTable(Properties properties) throws DBException {
    String text = properties.getProperty(TABLE, "true").strip();
    if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
      throw new DBException("property " + TABLE + " must be true or false: " + text);
    }
    return Boolean.parseBoolean(text);
  }

  @Override
  public void init() throws DBException {
    Properties properties = getProperties();
    String uri = properties.getProperty(URI);
    if (uri == null || uri.isBlank()) {
      throw new DBException(
          "property " + URI + " is missing, for example -p " + URI + "=erda+shm:/var/lib/erda");
    }
    requireValid(properties);
    keys = new RecordKey(hasTable(properties));
    fieldsOfRecord = fieldCount(properties);
    int batchSize = isRun(properties) ? one(properties) : batchSize(properties);
    measurements = batchSize > 1 ? Measurements.getMeasurements() : null;
    try {
      client = ErdaClient.connect(uri);
      if (batchSize > 1) {
        inserts =
            new InsertPipeline(
                uri, batchSize, (table, key, error) -> error("insert", table, key, error));
      }
    } catch (ErdaException e) {
      endClient();
      throw new DBException(e.getMessage(), e);
    }
  }

  /**
   * Finishes the inserts in flight and closes the connections.
   *
   * @throws DBException when batched inserts failed and no operation has reported it
   */
  @Override
  public void cleanup() throws DBException {
    int failed = 0;
    try {
      failed = endInserts();
    } finally {
      endClient();
    }
    if (failed > 0) {
      for (int i = 0; i < failed; i++) {
        measurements.reportStatus(INSERT, Status.ERROR);
      }
      throw new DBException(
          "batched inserts that failed, which no operation has reported: " + failed);
    }
  }

  private void endClient() {
    if (client != null) {
      client.close();
      client = null;
    }
  }

  /** Ends the pipeline. Returns how many inserts failed that no operation has reported. */
  private int endInserts() {
    InsertPipeline ending = inserts;
    if (ending == null) {
      return 0;
    }
    inserts = null;
    try (ending) {
      ending.finish();
    }
    return ending.takeFailures();
  }

  /**
   * Finishes the inserts in flight. Returns whether inserts failed that no operation has reported:
   * then the current operation does.
   */
  private boolean insertsFailed() {
    if (inserts == null) {
      return false;
    }
    inserts.finish();
    return inserts.takeFailures() > 0;
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    if (insertsFailed()) {
      return Status.ERROR;
    }
    try {
      int length = get(keys.of(table, key));
      if (length < 0) {
        return Status.NOT_FOUND;
      }
      // The result outlives this call, but the reused memory does not.
      format.decode(Arrays.copyOf(value, length), length, fields, result);
      return Status.OK;
    } catch (ErdaException | DamagedRecordException e) {
      return error("read", table, key, e);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    if (insertsFailed()) {
      return Status.ERROR;
    }
    try {
      MemorySegment erdaKey = keys.of(table, key);
      if (values.size() < fieldsOfRecord) {
        return merge(erdaKey, values);
      }
      format.encode(values);
      put(erdaKey);
      return Status.OK;
    } catch (ErdaException | DamagedRecordException e) {
      return error("update", table, key, e);
    }
  }

  /** Replaces fields of the record, atomically. */
  private Status merge(MemorySegment key, Map<String, ByteIterator> values) {
    // YCSB's own values can only be read once.
    Map<String, ByteIterator> again = new HashMap<>();
    values.forEach((field, text) -> again.put(field, new ByteArrayByteIterator(text.toArray())));
    boolean stored = false;
    while (!stored) {
      int length = get(key);
      if (length < 0) {
        return Status.NOT_FOUND;
      }
      again.values().forEach(ByteIterator::reset);
      format.merge(value, length, again);
      stored = client.compareAndSet(key, valueSegment.asSlice(0, length), encoded());
    }
    return Status.OK;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    if (inserts != null) {
      // Before the values are encoded, which can be done only once: YCSB may retry the insert.
      inserts.hear();
      if (inserts.takeFailures() > 0) {
        return Status.ERROR;
      }
    }
    try {
      format.encode(values);
      if (inserts == null) {
        put(keys.of(table, key));
        return Status.OK;
      }
      inserts.submit(table, key, keys.of(table, key), encoded());
      return Status.BATCHED_OK;
    } catch (ErdaException e) {
      // YCSB may retry the insert with the same values, which can be read only once.
      format.decode(Arrays.copyOf(format.bytes(), format.length()), format.length(), null, values);
      return error("insert", table, key, e);
    }
  }

  @Override
  public Status delete(String table, String key) {
    if (insertsFailed()) {
      return Status.ERROR;
    }
    try {
      return client.delete(keys.of(table, key)) ? Status.OK : Status.NOT_FOUND;
    } catch (ErdaException e) {
      return error("delete", table, key, e);
    }
  }

  /** Not implemented: a hash index keeps no order. */
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
    while (length > value.length) { // again, because another client may put a longer one meanwhile
      value = new byte[Math.toIntExact(Math.max(length, value.length * 2L))];
      valueSegment = MemorySegment.ofArray(value);
      length = client.get(key, valueSegment);
    }
    return (int) length;
  }

  private void put(MemorySegment key) {
    client.put(key, encoded());
  }

  private MemorySegment encoded() {
    return MemorySegment.ofArray(format.bytes()).asSlice(0, format.length());
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

  private static int fieldCount(Properties properties) throws DBException {
    String text = properties.getProperty("fieldcount", "10");
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      throw new DBException("property fieldcount is not a number: " + text, e);
    }
  }
}
