package io.erda.eval.peers.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.load.LoadResult;
import io.erda.eval.peers.process.PeerObjects.ObjectLost;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.RandomByteIterator;
import site.ycsb.Status;
import site.ycsb.WorkloadException;

/** The one binding by which YCSB drives every store. */
class PeerDbTest {
  private static final int OBJECTS = 50;

  private final HeapStore store = new HeapStore();
  private final PeerObjects objects = new PeerObjects(store, OBJECTS, HeapStore.VALUE_BYTES);
  private final PeerDb db = new PeerDb(objects);

  @BeforeEach
  void load() {
    for (int number = 0; number < OBJECTS; number++) {
      objects.put(number);
    }
  }

  private static Map<String, ByteIterator> field(byte... bytes) {
    return new HashMap<>(Map.of("field0", new ByteArrayByteIterator(bytes)));
  }

  private byte[] read(int number) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.OK, db.read("usertable", "user" + number, null, result));
    assertEquals(Set.of("field0"), result.keySet());
    return result.get("field0").toArray();
  }

  @Test
  void whatIsUpdatedIsReadButForTheObjectsName() {
    byte[] other = read(8);
    byte[] value = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    assertEquals(Status.OK, db.update("usertable", "user7", field(value)));
    ByteBuffer.wrap(value).putLong(0, 7);
    assertArrayEquals(value, read(7));
    assertArrayEquals(other, read(8));
    assertEquals(OBJECTS, store.map.size());
  }

  /** They come in steps of six bytes, and sixteen are none of them; each is 32 at least. */
  @Test
  void randomBytesOfYcsbsFillAValue() {
    Map<String, ByteIterator> values = new HashMap<>();
    values.put("field0", new RandomByteIterator(HeapStore.VALUE_BYTES));
    assertEquals(Status.OK, db.update("usertable", "user7", values));
    byte[] value = read(7);
    assertEquals(7, ByteBuffer.wrap(value).getLong(0));
    for (int at = Long.BYTES; at < value.length; at++) {
      assertTrue(value[at] >= 32, "byte " + at + " is " + value[at]);
    }
  }

  @Test
  void aValueOfAnotherLengthIsRefused() {
    assertEquals(Status.BAD_REQUEST, db.update("usertable", "user7", field((byte) 1)));
    assertEquals(Status.BAD_REQUEST, db.update("usertable", "user7", new HashMap<>()));
  }

  @Test
  void anObjectThatIsNotThereEndsIt() {
    ObjectLost lost =
        assertThrows(ObjectLost.class, () -> db.read("usertable", "user50", null, new HashMap<>()));
    assertEquals("object 50 is not there", lost.getMessage());
    store.map.replaceAll((key, value) -> new byte[HeapStore.VALUE_BYTES]);
    lost =
        assertThrows(ObjectLost.class, () -> db.read("usertable", "user7", null, new HashMap<>()));
    assertTrue(lost.getMessage().startsWith("object 7 has another's value"), lost::getMessage);
  }

  @Test
  void ycsbLoadsEveryObject() throws WorkloadException {
    Set<ByteBuffer> keys = new HashSet<>(store.map.keySet());
    store.map.clear();
    LoadResult result = new YcsbTurn(objects, "workloadc").load(OBJECTS);
    assertEquals(OBJECTS, result.updates());
    assertEquals(keys, store.map.keySet());
  }

  @Test
  void aWorkloadMeetsTheObjectsThatAreThere() throws WorkloadException {
    Set<ByteBuffer> keys = new HashSet<>(store.map.keySet());
    LoadResult result = new YcsbTurn(objects, "workloada").run(20_000_000);
    assertEquals(0, result.errors());
    assertEquals(result.operations(), result.read().count() + result.update().count());
    assertTrue(result.read().count() > 0 && result.update().count() > 0, result::toString);
    assertEquals(keys, store.map.keySet());
  }
}
