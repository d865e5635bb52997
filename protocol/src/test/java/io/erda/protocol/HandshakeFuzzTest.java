package io.erda.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.fuzz.Fuzz;
import io.erda.protocol.Handshake.Hello;
import io.erda.protocol.Handshake.Refusal;
import io.erda.protocol.Handshake.Welcome;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Bytes that are decoded as a handshake are encoded to the same content again; other bytes give
 * null.
 */
@Timeout(value = 60, unit = java.util.concurrent.TimeUnit.MINUTES)
class HandshakeFuzzTest {
  private static final UUID STORE = new UUID(0x1122, 0x3344);
  private static final List<MemorySegment> VALID =
      List.of(
          Handshake.encode(new Hello(1, 1, Promise.POWER, 4711, STORE)),
          Handshake.encode(new Hello(1, 1, null, 1, null)),
          Handshake.encode(
              new WelcomeBuilder()
                  .store(STORE)
                  .incarnation(7)
                  .rootKey(0x10001)
                  .hashSeed(42)
                  .regionBytes(1 << 30)
                  .segmentBytes(1 << 23)
                  .heads(4)
                  .promise(Promise.PROCESS)
                  .putMode(0)
                  .clientId(3)
                  .connectionEpoch(7)
                  .keyBytesMax(2048)
                  .valueBytesMax(1 << 20)
                  .messageBytesMax(4096)
                  .pollingNs(50_000)
                  .build()),
          Handshake.encode(new Refusal(Refusal.CONNECTIONS, "all 3 connections are taken")),
          Handshake.encode(new Refusal(9, "ü".repeat(200))));

  @Test
  void handshakes() {
    List<byte[]> valid = VALID.stream().map(bytes -> bytes.toArray(ValueLayout.JAVA_BYTE)).toList();
    Fuzz.run(
        HandshakeFuzzTest.class,
        valid,
        1 << 20,
        (input, random) -> {
          MemorySegment bytes = MemorySegment.ofArray(input);
          Hello hello = Handshake.decodeHello(bytes);
          if (hello != null) {
            assertEquals(hello, Handshake.decodeHello(Handshake.encode(hello)));
          }
          Welcome welcome = Handshake.decodeWelcome(bytes);
          if (welcome != null) {
            assertEquals(welcome, Handshake.decodeWelcome(Handshake.encode(welcome)));
            assertNotNull(welcome.promise());
          }
          Refusal refusal = Handshake.decodeRefusal(bytes);
          if (refusal != null) {
            assertTrue(refusal.text().length() <= 200);
            assertEquals(
                refusal.reason(), Handshake.decodeRefusal(Handshake.encode(refusal)).reason());
          }
          assertTrue(hello == null || welcome == null && refusal == null, "one kind at most");
          if (Message.wellFormed(bytes, 0, input.length)) {
            assertEquals(input.length, Message.length(bytes, 0));
          }
        });
  }
}
