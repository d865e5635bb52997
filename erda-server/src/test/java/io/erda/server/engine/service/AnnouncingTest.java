package io.erda.server.engine.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.ObjectLayout;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.protocol.PutMode;
import io.erda.protocol.Result;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.RawClient;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.publishing.AnnouncedWords;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import io.erda.server.engine.store.StoreWriter;
import io.erda.server.engine.tables.Tables;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how the server handles announcements, in a store whose puts announce first. */
class AnnouncingTest {
  private static final byte[] KEY = "key".getBytes(StandardCharsets.UTF_8);
  private static final byte[] OLD = "old".getBytes(StandardCharsets.UTF_8);
  private static final byte[] NEW = "new".getBytes(StandardCharsets.UTF_8);
  private static final int BYTES = ObjectLayout.bytes(KEY.length, NEW.length);
  private static final StoreGeometry ANNOUNCING = StoreHarness.TINY.withPutMode(PutMode.ANNOUNCE);

  private long nowNs = 1;
  private final EmbeddedNetwork network = new EmbeddedNetwork(() -> nowNs);
  private final EmbeddedDevice serverDevice = network.device();
  private final EmbeddedDevice clientDevice = network.device();
  private final HeapDirectory directory = new HeapDirectory();
  private ServerCore core;
  private RawClient client;
  private RawClient.Leased leased;
  private long place;
  private long regionKey;

  @BeforeEach
  void open() throws IOException {
    core =
        new ServerCore(
            StoreOpening.open(directory, ANNOUNCING, new Random(1)),
            new ServiceOptions(8, 1L << 50, 4096, 0, CleanerOptions.NEVER),
            () -> nowNs += 100);
    core.listen(serverDevice, serverDevice.listen("erda"));
    client = connect();
    leased = lease(client);
    place = leased.place();
    regionKey = client.regionKey(leased);
  }

  @AfterEach
  void close() {
    core.close();
  }

  private RawClient connect() {
    RawClient connecting = new RawClient(core, clientDevice, "erda", RawClient.hello());
    assertTrue(connecting.connected());
    return connecting;
  }

  private RawClient.Leased lease(RawClient by) {
    return by.lease(Entry.headOf(keyWord()), 1000);
  }

  private static MemorySegment key() {
    return MemorySegment.ofArray(KEY);
  }

  private long keyWord() {
    return core.engine().keyWord(key(), 0, KEY.length);
  }

  private long entry() {
    return core.engine().find(keyWord(), key(), 0, KEY.length);
  }

  private long word() {
    return core.engine().tables().versionWord(entry());
  }

  /** Returns whether the key had a value. */
  private boolean announce(byte[] value) {
    MemorySegment response =
        client.announce(leased, place, KEY, BYTES, value == null ? Message.FLAG_DELETE : 0);
    assertEquals(Result.OK, Message.result(response, 0));
    assertEquals(1, Message.getInt(response, Message.ANNOUNCED_AWAITED));
    return Message.getInt(response, Message.ANNOUNCED_EXISTED) != 0;
  }

  private void write(byte[] value) {
    client.write(leased, place, KEY, value, regionKey);
    client.step();
    place += ObjectLayout.padded(BYTES);
  }

  private void later(long ns) {
    nowNs += ns;
    core.doWork();
    core.doWork();
  }

  private void put(byte[] value) {
    announce(value);
    write(value);
    later(2 * AnnouncedWords.LOOK_NS);
  }

  @Test
  void theWordNamesThePlaceBeforeTheObjectIsThere() {
    assertFalse(announce(NEW));
    long word = word();
    assertTrue(VersionWord.pending(word));
    assertEquals(client.geometry().offset(leased.regionIndex(), place), VersionWord.newest(word));
    later(10 * AnnouncedWords.LOOK_NS);
    assertEquals(word, word(), "there is nothing to commit");
    write(NEW);
    later(2 * AnnouncedWords.LOOK_NS);
    assertEquals(VersionWord.commit(word), word());
    assertEquals(1, core.writer().puts().puts());
    assertEquals(0, core.writer().announced().undecided());
  }

  @Test
  void aDeleteAnnouncesATombstoneWhereThereIsAValueOnly() {
    MemorySegment nothing = client.announce(leased, place, KEY, BYTES, Message.FLAG_DELETE);
    assertEquals(Result.OK, Message.result(nothing, 0));
    assertEquals(0, Message.getInt(nothing, Message.ANNOUNCED_AWAITED));
    place += ObjectLayout.padded(BYTES);
    put(OLD);
    assertTrue(announce(null));
    client.write(leased, place, KEY, null, regionKey);
    client.step();
    later(2 * AnnouncedWords.LOOK_NS);
    // A sweep may have emptied the entry by now.
    assertEquals(0, core.writer().announced().undecided());
    assertEquals(1, core.writer().puts().deletes());
  }

  /** The client is given up, what it announced is taken back, and the version before is there. */
  @Test
  void whoDoesNotWriteIsFencedAndRolledBack() {
    put(OLD);
    long committed = word();
    announce(NEW);
    later(AnnouncedWords.UNWANTED_NS + 10 * AnnouncedWords.LOOK_NS);
    for (int i = 0; i < 10; i++) {
      client.step();
    }
    assertTrue(client.disconnected);
    assertEquals(VersionWord.newest(committed), VersionWord.newest(word()));
    assertFalse(VersionWord.pending(word()));
    assertEquals(1, core.writer().announced().rolledBack());
    assertEquals(0, core.engine().root().structureCounter() & 1);
  }

  /** An insertion that was never written leaves no entry. */
  @Test
  void aFirstVersionThatNeverComesIsAbsent() {
    announce(NEW);
    client.queuePair.close();
    later(AnnouncedWords.LOOK_NS);
    assertEquals(Tables.NONE, entry());
  }

  @Test
  void whatIsWholeIsCommittedWhenItsClientLeaves() {
    announce(NEW);
    long word = word();
    write(NEW);
    client.queuePair.close();
    later(0);
    later(0);
    assertEquals(VersionWord.commit(word), word());
    assertEquals(0, core.writer().announced().rolledBack());
  }

  /** A word never has two undecided versions. */
  @Test
  void aSecondPutWaitsForTheFirst() {
    announce(NEW);
    long first = word();
    RawClient other = connect();
    RawClient.Leased its = lease(other);
    other.announceLater(its, its.place(), KEY, BYTES, 0);
    for (int i = 0; i < 100; i++) {
      other.step();
    }
    assertFalse(other.isAnswered());
    assertEquals(first, word());
    write(NEW);
    MemorySegment response = other.response();
    assertEquals(Result.OK, Message.result(response, 0));
    assertEquals(1, Message.getInt(response, Message.ANNOUNCED_EXISTED));
    assertEquals(VersionWord.newest(first), VersionWord.older(word()));
    assertTrue(VersionWord.pending(word()));
  }

  /** Found by reading: another announcement of the connection said that all was over. */
  @Test
  void anAnnouncementThatWaitsIsNotSettled() {
    put(OLD);
    announce(NEW);
    long settled = client.queuePair.claims().finished();
    assertEquals(client.queuePair.claims().sent(), settled);
    long first = place;
    place += ObjectLayout.padded(BYTES);
    client.announceLater(leased, place, KEY, BYTES, 0);
    place += ObjectLayout.padded(BYTES);
    byte[] other = "yek".getBytes(StandardCharsets.UTF_8);
    MemorySegment response = client.announce(leased, place, other, BYTES, Message.FLAG_DELETE);
    assertEquals(Result.OK, Message.result(response, 0));
    assertEquals(settled, client.queuePair.claims().finished());

    client.write(leased, first, KEY, NEW, regionKey);
    client.step();
    later(2 * AnnouncedWords.LOOK_NS);
    assertEquals(Result.OK, Message.result(client.response(), 0));
    assertEquals(client.queuePair.claims().sent(), client.queuePair.claims().finished());
  }

  /** A second put waits, so the first is given less time; its version never counts. */
  @Test
  void aSecondPutGoesOnWhenTheFirstIsFenced() {
    announce(NEW);
    RawClient other = connect();
    RawClient.Leased its = lease(other);
    other.announceLater(its, its.place(), KEY, BYTES, 0);
    other.step();
    nowNs += AnnouncedWords.WANTED_NS;
    MemorySegment response = other.response();
    assertEquals(Result.OK, Message.result(response, 0));
    assertEquals(0, Message.getInt(response, Message.ANNOUNCED_EXISTED));
    assertEquals(VersionWord.NONE, VersionWord.older(word()));
  }

  /** Bytes that a late writer stores after the judgement are garbage, which no word names. */
  @Test
  void whatIsWrittenBehindARollbackIsNamedByNothing() {
    announce(NEW);
    RawClient other = connect();
    client.queuePair.close();
    later(0);
    later(0);
    other.write(leased, place, KEY, NEW, other.regionKey(leased));
    other.step();
    assertEquals(Tables.NONE, entry());
  }

  @Test
  void eraseIsToldToAskAgainWhileAPutIsUndecided() {
    put(OLD);
    announce(NEW);
    Message.putInt(client.request(), Message.ERASE_KEY_LENGTH, KEY.length);
    MemorySegment.copy(key(), 0, client.request(), Message.ERASE_KEY, KEY.length);
    MemorySegment undecided = client.ask(Message.ERASE, Message.ERASE_KEY + KEY.length);
    assertEquals(Result.UNDECIDED, Message.result(undecided, 0));
    write(NEW);
    MemorySegment.copy(key(), 0, client.request(), Message.ERASE_KEY, KEY.length);
    Message.putInt(client.request(), Message.ERASE_KEY_LENGTH, KEY.length);
    MemorySegment erased = client.ask(Message.ERASE, Message.ERASE_KEY + KEY.length);
    assertEquals(Result.OK, Message.result(erased, 0));
    assertEquals(1, Message.getInt(erased, Message.ERASED_EXISTED));
    assertEquals(Tables.NONE, entry());
  }

  /** Undecided entries are in the way of the doubling: that is soon over, and nothing is full. */
  @Test
  void undecidedEntriesMakeTheTableNotFull() {
    RawClient other = connect();
    byte[][] keys = new byte[200][];
    long[] places = new long[keys.length];
    RawClient.Leased[] leases = new RawClient.Leased[keys.length];
    int announced = 0;
    for (int i = 0; i < keys.length; i++) {
      keys[i] = ("k" + i).getBytes(StandardCharsets.UTF_8);
      int head = Entry.headOf(core.engine().keyWord(value(keys[i]), 0, keys[i].length));
      int bytes = ObjectLayout.bytes(keys[i].length, NEW.length);
      leases[i] = other.lease(head, bytes);
      places[i] = leases[i].place();
      other.announceLater(leases[i], places[i], keys[i], bytes, 0);
      for (int turn = 0; turn < 1000 && !other.isAnswered(); turn++) {
        other.step();
      }
      if (!other.isAnswered()) {
        break;
      }
      assertEquals(Result.OK, Message.result(other.response(), 0), "key " + i);
      announced++;
    }
    assertTrue(announced > 16 && announced < keys.length, announced + " were announced");
    for (int i = 0; i < announced; i++) {
      other.write(leases[i], places[i], keys[i], NEW, leases[i].key());
    }
    assertEquals(Result.OK, Message.result(other.response(), 0));
  }

  /**
   * One undecided entry keeps a doubling from ending, and other puts go on meanwhile. They filled
   * the new table before the old one was empty; then nothing could be moved, and every further put
   * was told that the table is full.
   */
  @Test
  void anUndecidedEntryInTheOldTableLeavesTheNewOneRoom() {
    announce(NEW);
    RawClient other = connect();
    boolean written = false;
    for (int i = 0; i < 200; i++) {
      byte[] key = ("k" + i).getBytes(StandardCharsets.UTF_8);
      int head = Entry.headOf(core.engine().keyWord(value(key), 0, key.length));
      int bytes = ObjectLayout.bytes(key.length, NEW.length);
      RawClient.Leased its = other.lease(head, bytes);
      other.announceLater(its, its.place(), key, bytes, 0);
      for (int turn = 0; turn < 100 && !other.isAnswered(); turn++) {
        other.step();
      }
      if (!other.isAnswered()) {
        assertFalse(written, "key " + i + " waits though nothing is undecided");
        written = true;
        write(NEW);
      }
      assertEquals(Result.OK, Message.result(other.response(), 0), "key " + i);
      other.write(its, its.place(), key, NEW, its.key());
      other.step();
    }
    assertTrue(written, "nothing waited for the undecided entry");
  }

  private static MemorySegment value(byte[] bytes) {
    return MemorySegment.ofArray(bytes);
  }

  /** Returns the result of an announcement on a condition. */
  private int announceIf(int flags, byte[] expected) {
    return Message.result(client.announceIf(leased, place, KEY, BYTES, flags, value(expected)), 0);
  }

  private void skip() {
    place += ObjectLayout.padded(BYTES);
  }

  @Test
  void aConditionIsLookedAtBeforeTheWordIsStored() {
    assertEquals(Result.CONFLICT, announceIf(Message.FLAG_IF_EQUAL, OLD), "there is none");
    skip();
    assertEquals(Tables.NONE, entry());
    assertEquals(Result.OK, announceIf(Message.FLAG_IF_ABSENT, OLD));
    write(OLD);
    later(2 * AnnouncedWords.LOOK_NS);
    long word = word();
    assertEquals(Result.CONFLICT, announceIf(Message.FLAG_IF_ABSENT, OLD));
    skip();
    assertEquals(Result.CONFLICT, announceIf(Message.FLAG_IF_EQUAL, NEW));
    skip();
    int delete = Message.FLAG_IF_EQUAL | Message.FLAG_DELETE;
    assertEquals(Result.CONFLICT, announceIf(delete, NEW));
    skip();
    assertEquals(word, word());
    assertEquals(0, core.writer().announced().undecided());
    assertEquals(Result.OK, announceIf(delete, OLD));
    client.write(leased, place, KEY, null, regionKey);
    skip();
    client.step();
    later(2 * AnnouncedWords.LOOK_NS);
    assertEquals(1, core.writer().puts().deletes());
    assertEquals(Result.CONFLICT, announceIf(Message.FLAG_IF_EQUAL, OLD), "it was deleted");
    skip();
    assertEquals(Result.OK, announceIf(Message.FLAG_IF_ABSENT, OLD), "over a deleted one");
  }

  /** A condition is tested against a whole value, even if it is not committed. */
  @Test
  void aConditionMeetsWhatIsWholeAndNotCommitted() {
    put(OLD);
    announce(NEW);
    write(NEW);
    assertTrue(VersionWord.pending(word()));
    RawClient other = connect();
    RawClient.Leased its = lease(other);
    int flags = Message.FLAG_IF_EQUAL;
    assertEquals(
        Result.CONFLICT,
        Message.result(other.announceIf(its, its.place(), KEY, BYTES, flags, value(OLD)), 0));
    assertFalse(VersionWord.pending(word()), "it had to be decided");
    long next = its.place() + ObjectLayout.padded(BYTES);
    assertEquals(
        Result.OK, Message.result(other.announceIf(its, next, KEY, BYTES, flags, value(NEW)), 0));
  }

  /** The value is still unknown, so a put that depends on it waits. */
  @Test
  void aConditionWaitsUntilThePutBeforeIsDecided() {
    put(OLD);
    announce(NEW);
    RawClient other = connect();
    RawClient.Leased its = lease(other);
    other.announceIfLater(its, its.place(), KEY, BYTES, Message.FLAG_IF_EQUAL, value(NEW));
    for (int i = 0; i < 100; i++) {
      other.step();
    }
    assertFalse(other.isAnswered());
    write(NEW);
    assertEquals(Result.OK, Message.result(other.response(), 0));
  }

  /** The put before is rolled back: the condition is held against the version before that. */
  @Test
  void aConditionOutlivesAPutThatIsTakenBack() {
    put(OLD);
    announce(NEW);
    RawClient other = connect();
    RawClient.Leased its = lease(other);
    other.announceIfLater(its, its.place(), KEY, BYTES, Message.FLAG_IF_EQUAL, value(NEW));
    other.step();
    nowNs += AnnouncedWords.WANTED_NS;
    assertEquals(Result.CONFLICT, Message.result(other.response(), 0));
    assertFalse(VersionWord.pending(word()));
  }

  /** The put was announced, its condition held, but it was not written: it never takes effect. */
  @Test
  void aConditionalPutThatIsNotWrittenNeverCounts() {
    put(OLD);
    long committed = VersionWord.newest(word());
    assertEquals(Result.OK, announceIf(Message.FLAG_IF_EQUAL, OLD));
    client.queuePair.close();
    later(0);
    later(0);
    assertEquals(committed, VersionWord.newest(word()));
    assertFalse(VersionWord.pending(word()));
  }

  @Test
  void unknownConditionsAreRefused() {
    int both = Message.FLAG_IF_ABSENT | Message.FLAG_IF_EQUAL;
    assertEquals(Result.BAD_REQUEST, announceIf(both, OLD));
    assertEquals(Result.BAD_REQUEST, announceIf(Message.FLAG_IF_ABSENT | Message.FLAG_DELETE, OLD));
    assertEquals(Result.BAD_REQUEST, announceIf(8, OLD));
    assertEquals(Tables.NONE, entry());
  }

  /** A server dies with words pending: the next one commits what is whole and judges the rest. */
  @Test
  void theNextServerDecidesWhatTheOneBeforeLeft() throws IOException {
    put(OLD);
    announce(NEW);
    long word = word();
    core.engine().abandon();
    core.leave();
    StoreEngine next = StoreOpening.open(directory, null, new Random(1));
    long entry = next.find(next.keyWord(key(), 0, KEY.length), key(), 0, KEY.length);
    assertEquals(word, next.tables().versionWord(entry), "nobody has met it");
    StoreWriter writer = new StoreWriter(next, TableGrowthOptions.DEFAULT);
    writer.announced().reported(next.keyWord(key(), 0, KEY.length), VersionWord.newest(word));
    assertEquals(VersionWord.older(word), VersionWord.newest(next.tables().versionWord(entry)));
    assertEquals(0, next.root().structureCounter() & 1);
    writer.close();
  }

  @Test
  void aCleanStopLeavesWhatIsWholeCommitted() throws IOException {
    announce(NEW);
    long word = word();
    write(NEW);
    core.leave();
    StoreEngine next = StoreOpening.open(directory, null, new Random(1));
    assertEquals(0, next.recovery().committed());
    long entry = next.find(next.keyWord(key(), 0, KEY.length), key(), 0, KEY.length);
    assertEquals(VersionWord.commit(word), next.tables().versionWord(entry));
    next.close();
  }

  @Test
  void theStorePromisesAtomicAndNoMore() {
    assertEquals(Promise.ATOMIC, client.welcome().promise());
    assertEquals(PutMode.ANNOUNCE.code(), client.welcome().putMode());
    RawClient demanding =
        new RawClient(
            core,
            clientDevice,
            "erda",
            Handshake.encode(
                new Handshake.Hello(
                    Protocol.VERSION, Protocol.LAYOUT_VERSION, Promise.PROCESS, 1, null)));
    assertFalse(demanding.connected());
    assertEquals(Handshake.Refusal.PROMISE, demanding.refusal().reason());
    for (Promise more : new Promise[] {Promise.PROCESS, Promise.POWER}) {
      ErdaException.Unusable refused =
          assertThrows(
              ErdaException.Unusable.class,
              () -> StoreOpening.open(new HeapDirectory(), ANNOUNCING, more, new Random(1)));
      assertTrue(refused.getMessage().contains("ATOMIC"), refused.getMessage());
    }
  }

  @Test
  void publishIsNoneOfItsRequests() {
    int bytes = client.write(leased, place, KEY, NEW, regionKey);
    assertEquals(Result.BAD_REQUEST, client.publish(leased, place, bytes, 0));
    assertEquals(Tables.NONE, entry());
  }

  @Test
  void aPlaceOfSomebodyElseIsRefused() {
    RawClient other = connect();
    MemorySegment response = other.announce(leased, place, KEY, BYTES, 0);
    assertEquals(Result.NO_RESERVATION, Message.result(response, 0));
    announce(NEW);
    MemorySegment twice = client.announce(leased, place, KEY, BYTES, 0);
    assertEquals(Result.NO_RESERVATION, Message.result(twice, 0));
  }

  /** A put that is whole under another key than the announced one never counts. */
  @Test
  void anObjectOfAnotherKeyIsNoneThatWasAnnounced() {
    put(OLD);
    long committed = VersionWord.newest(word());
    announce(NEW);
    client.write(leased, place, "kay".getBytes(StandardCharsets.UTF_8), NEW, regionKey);
    client.step();
    later(10 * AnnouncedWords.LOOK_NS);
    assertTrue(VersionWord.pending(word()));
    client.queuePair.close();
    later(0);
    later(0);
    assertEquals(committed, VersionWord.newest(word()));
  }

  /** An extent that its client has done with holds the low mark until all in it is decided. */
  @Test
  void anExtentEndsWhenWhatWasAnnouncedInItIsDecided() {
    announce(NEW);
    long open = core.engine().log().openBytes();
    Message.putLong(client.request(), Message.END_RESERVATION, leased.reservation());
    client.ask(Message.END, Message.END_REQUEST_BYTES);
    assertEquals(open, core.engine().log().openBytes());
    write(NEW);
    later(2 * AnnouncedWords.LOOK_NS);
    assertEquals(0, core.engine().log().openBytes());
  }
}
