package io.erda.client.gets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/**
 * There is no memory for a copy, or for a larger one. The copy had its new size all the same, and a
 * later get stored beyond its end, or had no checksum.
 */
class PrivateCopyTest {
  private boolean fails;

  private final Device device =
      (Device)
          Proxy.newProxyInstance(
              Device.class.getClassLoader(),
              new Class<?>[] {Device.class},
              (proxy, method, arguments) -> {
                if (fails) {
                  throw new OutOfMemoryError("as a test wants it");
                }
                return null;
              });

  @Test
  void aCopyThatCouldNotBeMadeIsMadeTheNextTime() {
    PrivateCopy copy = new PrivateCopy(device);
    fails = true;
    assertThrows(OutOfMemoryError.class, () -> copy.prepare(100));
    assertEquals(0, copy.objectCapacity);
    fails = false;
    copy.prepare(100);
    assertFalse(copy.isWhole(100, 1));
  }

  @Test
  void aCopyThatCouldNotGrowIsAsItWas() {
    PrivateCopy copy = new PrivateCopy(device);
    copy.prepare(100);
    copy.memory().set(ValueLayout.JAVA_BYTE, PrivateCopy.OBJECT, (byte) 7);
    int before = copy.objectCapacity;
    fails = true;
    assertThrows(OutOfMemoryError.class, () -> copy.grow(1 << 20, 100));
    assertEquals(before, copy.objectCapacity);
    assertEquals(PrivateCopy.OBJECT + (long) before, copy.memory().byteSize());
    fails = false;
    copy.grow(1 << 20, 100);
    MemorySegment kept = copy.memory().asSlice(PrivateCopy.OBJECT, 2);
    assertArrayEquals(new byte[] {7, 0}, kept.toArray(ValueLayout.JAVA_BYTE));
  }
}
