package io.erda.server.engine.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

class RequestCountsTest {
  @Test
  void everyResultHasANameOfItsOwn() throws IllegalAccessException {
    Set<String> names = new HashSet<>();
    for (Field field : Result.class.getDeclaredFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
        RequestCounts counts = new RequestCounts();
        counts.add(Message.LEASE, 0, field.getInt(null));
        Map<String, LongSupplier> figures = new HashMap<>();
        counts.addTo(figures);
        figures.values().removeIf(count -> count.getAsLong() == 0);
        assertEquals(1, figures.size(), field.getName());
        String name = figures.keySet().iterator().next();
        assertTrue(name.startsWith("requests.answered.lease."), field.getName() + ": " + name);
        assertFalse(name.endsWith(".other"), field.getName());
        assertTrue(names.add(name), field.getName() + ": " + name);
      }
    }
    assertFalse(names.isEmpty());
  }
}
