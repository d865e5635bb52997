package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.verbs.ffm.Offered;
import java.io.IOException;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Bytes and texts that name something: addresses, GIDs, remote keys, tags. */
class NamesTest {
  @Test
  void addressesAreHostAndPort() throws IOException {
    assertEquals("10.9.0.2:7411", Addresses.format(Addresses.parse("10.9.0.2:7411")));
    assertTrue(Addresses.format(Addresses.parse("[fe80::1]:7411")).endsWith("]:7411"));
    assertTrue(Addresses.parse(":7411").getAddress().isAnyLocalAddress());
    assertThrows(IOException.class, () -> Addresses.parse("10.9.0.2"));
    assertThrows(IOException.class, () -> Addresses.parse("10.9.0.2:70000"));
  }

  @Test
  void gidsAreWrittenAsTheKernelDoes() throws IOException {
    assertEquals(
        "0000:0000:0000:0000:0000:ffff:0a09:0001",
        Gids.gid(InetAddress.getByName("10.9.0.1").getAddress()));
    assertEquals(
        "fe80:0000:0000:0000:0000:0000:0000:0001",
        Gids.gid(InetAddress.getByName("fe80::1").getAddress()));
  }

  @Test
  void hostsAreOwnAddressesThatTheDeviceHas() throws IOException {
    Map<String, InetAddress> own = new LinkedHashMap<>();
    for (String each : List.of("2001:db8::1", "10.9.0.1", "10.9.0.2", "192.0.2.1")) {
      InetAddress address = InetAddress.getByName(each);
      own.put(Gids.gid(address.getAddress()), address);
    }
    Set<String> ofDevice = new HashSet<>(own.keySet());
    ofDevice.remove(Gids.gid(InetAddress.getByName("192.0.2.1").getAddress()));
    ofDevice.add("fe80:0000:0000:0000:0000:0000:0000:0001");
    assertEquals(
        List.of("10.9.0.1", "10.9.0.2", "[2001:db8:0:0:0:0:0:1]"), Gids.hosts(own, ofDevice));
    assertEquals(List.of(), Gids.hosts(own, Set.of()));
  }

  @Test
  void whoFindsNoDeviceIsToldWhatToDo() {
    assertTrue(Hca.none(List.of()).contains("rdma link add"));
    String text = Hca.none(List.of("mlx5_0", "rxe0"));
    assertTrue(text.contains("mlx5_0, rxe0") && text.contains("ibverbs-providers"), text);
    assertEquals("nobody listens there (status 8)", CmEvents.text(CmEvents.REJECTED, 8));
    assertTrue(CmEvents.text(CmEvents.REJECTED, 28).contains("at another address"));
  }

  /** See FORMAT.md. */
  @Test
  void remoteKeysSayWhereARegionLies() {
    long key = 0x3bcdeL << 44 | 0x678L << 32 | 0x8000_0001L;
    long iova = 0x3bcdeL << 40 | 0x678;
    assertEquals(key, VerbsRegion.place(0x3bcde, 0x7f00_1234_5678L) | 0x8000_0001L);
    assertEquals(iova, VerbsRegion.iova(key));

    assertEquals(0x8000_0001, VerbsRegion.rkey(key));
    assertEquals(iova + 100, VerbsRegion.remoteAddress(key, 100, 8));
    assertEquals(-1, VerbsRegion.remoteAddress(key, -1, 8));
    assertEquals(-1, VerbsRegion.remoteAddress(key, 1L << 40, 8));
    assertEquals(-1, VerbsRegion.remoteAddress(0, 0, 8));
  }

  /**
   * The key of a region that is paged on demand, or persistent, says its address and what a FLUSH
   * of it asks for.
   */
  @Test
  void remoteKeysSayAnAddress() {
    long address = 0x7abc_dee0_0000L;
    long key = VerbsRegion.place(true, address) | 0x8000_0001L;
    long volatileKey = VerbsRegion.place(false, address) | 1;

    assertEquals(address + 100, VerbsRegion.remoteAddress(key, 100, 8));
    assertEquals(address + 100, VerbsRegion.remoteAddress(volatileKey, 100, 8));
    assertEquals(0x8000_0001, VerbsRegion.rkey(key));
    assertEquals(Offered.FLUSH_GLOBAL | Offered.FLUSH_PERSISTENT, VerbsRegion.flushType(key));
    assertEquals(Offered.FLUSH_GLOBAL, VerbsRegion.flushType(volatileKey));
    long highest = VerbsRegion.place(VerbsRegion.GENERATIONS - 1, 0);
    assertEquals(Offered.FLUSH_GLOBAL, VerbsRegion.flushType(highest));
  }

  @Test
  void tagsOfWorkSayItsNumberAndTheLifeOfTheQueuePair() {
    long tag = Tags.data(123_456_789_012L, true, 255);

    assertEquals(Tags.DATA, Tags.kind(tag));
    assertEquals(123_456_789_012L, Tags.number(tag));
    assertEquals(255, Tags.epoch(tag));
    assertTrue(Tags.isLast(tag));
    assertEquals(319, Tags.number(Tags.RECEIVED | 319));
  }
}
