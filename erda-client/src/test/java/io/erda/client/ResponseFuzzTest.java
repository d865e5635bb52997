package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.fuzz.Fuzz;
import io.erda.hashtable.Entry;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Handshake;
import io.erda.protocol.Message;
import io.erda.protocol.Protocol;
import io.erda.protocol.Root;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client whose server sends arbitrary bytes, in welcomes, in responses, and in the memory that
 * the client READs. Each operation ends, with a right result or with an error of one line.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class ResponseFuzzTest {
  private static final ClientOptions QUICK =
      new ClientOptions(Duration.ofMillis(20), Duration.ofMillis(20), null, 1 << 30, 64, 1);
  private static final byte[] VALUE = "a value of some length, and not of one word".getBytes(UTF_8);

  private static byte[] seedBytes() {
    byte[] bytes = new byte[64];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    return bytes;
  }

  private interface Use {
    Object of(ErdaClient client);
  }

  private static Object typed(Use use, ErdaClient client) {
    try {
      return use.of(client);
    } catch (ErdaException | BatchException e) {
      assertFalse(e.getMessage().contains("\n"), e.getMessage());
      return e;
    }
  }

  private static void useAll(ErdaClient client, boolean trueMemory) {
    byte[] key = "key".getBytes(UTF_8);
    Object got = typed(c -> c.get(key), client);
    if (got instanceof byte[] value && trueMemory) {
      assertArrayEquals(VALUE, value);
    }
    typed(c -> c.get("none".getBytes(UTF_8)), client);
    typed(
        c -> {
          c.put("other".getBytes(UTF_8), VALUE);
          return null;
        },
        client);
    typed(c -> c.delete("other".getBytes(UTF_8)), client);
    typed(c -> c.putIfAbsent("other".getBytes(UTF_8), VALUE), client);
    typed(c -> c.compareAndSet("other".getBytes(UTF_8), VALUE, VALUE), client);
    typed(c -> c.getAll(List.of("key".getBytes(UTF_8), "none".getBytes(UTF_8))), client);
    typed(ResponseFuzzTest::iterate, client);
    typed(ErdaClient::stats, client);
  }

  /** The keys may have any bytes, because the memory in which they lie may have any content. */
  private static Object iterate(ErdaClient client) {
    try (KeyCursor cursor = client.keys()) {
      for (int i = 0; i < 10 && cursor.next(); i++) {
        assertTrue(cursor.key().length > 0);
      }
    }
    return null;
  }

  private static FakeStore store() {
    FakeStore store = new FakeStore();
    store.misleads = true;
    store.put("key", new String(VALUE, UTF_8));
    return store;
  }

  private static void mutate(MemorySegment bytes, int length, RandomGenerator random) {
    for (int i = random.nextInt(1, 4); i > 0 && length >= 8; i--) {
      switch (random.nextInt(3)) {
        case 0 -> Message.putInt(bytes, random.nextInt(length / 4) * 4L, (int) Fuzz.any(random));
        case 1 -> Message.putLong(bytes, random.nextInt(length / 8) * 8L, Fuzz.any(random));
        default -> {
          long at = random.nextInt(length);
          byte old = bytes.get(ValueLayout.JAVA_BYTE, at);
          bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (old ^ 1 << random.nextInt(8)));
        }
      }
    }
  }

  @Test
  void responses() {
    Fuzz.run(
        ResponseFuzzTest.class,
        List.of(seedBytes()),
        (input, random) -> {
          FakeStore store = store();
          int share = random.nextInt(1, 6);
          store.tamper =
              (type, response, length) -> {
                if (random.nextInt(share) > 0) {
                  return length;
                }
                int from = random.nextInt(4) == 0 ? 0 : Message.BODY;
                mutate(response.asSlice(from), length - from, random);
                return random.nextInt(8) > 0
                    ? length
                    : random.nextInt(1, Protocol.MESSAGE_BYTES_MAX + 1);
              };
          try (ErdaClient client = store.client(QUICK)) {
            useAll(client, true);
          } catch (ErdaException e) {
            assertFalse(e.getMessage().contains("\n"), e.getMessage());
          }
        });
  }

  @Test
  void welcomesAndRefusals() {
    Fuzz.run(
        ResponseFuzzTest.class,
        List.of(seedBytes()),
        (input, random) -> {
          FakeStore store = store();
          store.welcomeBytes =
              bytes -> {
                MemorySegment mutated = MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
                mutate(mutated, (int) mutated.byteSize(), random);
                return random.nextInt(8) > 0
                    ? mutated
                    : mutated.asSlice(0, random.nextLong(mutated.byteSize() + 1));
              };
          if (random.nextInt(4) == 0) {
            store.refusal =
                new Handshake.Refusal(
                    random.nextInt(8), new String(Arrays.copyOf(input, 100), UTF_8));
          }
          try (ErdaClient client = store.client(QUICK)) {
            useAll(client, false);
          } catch (ErdaException e) {
            assertFalse(e.getMessage().contains("\n"), e.getMessage());
          }
        });
  }

  /** Root, entries and objects are read one-sided: whatever lies there. */
  @Test
  void whatIsRead() {
    Fuzz.run(
        ResponseFuzzTest.class,
        List.of(seedBytes()),
        (input, random) -> {
          FakeStore store = store();
          byte[] key = "key".getBytes(UTF_8);
          long entry = store.entryOf(key);
          try (ErdaClient client = store.client(QUICK)) {
            client.get(key);
            switch (random.nextInt(3)) {
              case 0 -> mutate(store.root, Root.BYTES, random);
              case 1 -> {
                mutate(store.table.asSlice(entry), Entry.BYTES, random);
              }
              default ->
                  mutate(
                      store.regions.get(Entry.headOf(store.keyWord(key))).asSlice(64), 64, random);
            }
            useAll(client, true);
            assertTrue(store.nowNs > 0);
          } catch (ErdaException e) {
            assertFalse(e.getMessage().contains("\n"), e.getMessage());
          }
        });
  }

  @Test
  void uris() {
    Fuzz.run(
        ResponseFuzzTest.class,
        List.of(
            "erda+shm:/var/lib/erda".getBytes(UTF_8),
            "erda://host.example:7411".getBytes(UTF_8),
            "erda+rdma://[::1]:1".getBytes(UTF_8),
            "erda+shm:///x".getBytes(UTF_8)),
        1 << 20,
        (input, random) -> {
          try {
            ErdaUri uri = ErdaUri.parse(new String(input, UTF_8));
            ErdaUri again = ErdaUri.parse(uri.toString());
            assertTrue(uri.equals(again), () -> uri + " and " + again);
          } catch (ErdaException.BadArgument e) {
            assertFalse(e.getMessage().contains("\n"), e.getMessage());
          }
        });
  }
}
