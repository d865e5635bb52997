package io.erda.launcher.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.protocol.ErdaException;
import java.util.Map;
import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.MBeanException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** Tests the attributes that a JMX client gets from a server. */
class FiguresBeanTest {
  private static final Map<String, Long> TOLD =
      Map.of("puts", 7L, "server.version=1.2=3", 1L, "requests.answered.put.ok", 3L);

  @Test
  void numbersAndTexts() throws Exception {
    MBeanServer beans = MBeanServerFactory.newMBeanServer();
    ObjectName name = new ObjectName("io.erda:type=Server");
    beans.registerMBean(new FiguresBean(() -> TOLD), name);
    assertEquals(7L, beans.getAttribute(name, "puts"));
    assertEquals("1.2=3", beans.getAttribute(name, "server.version"));
    assertNull(beans.getAttribute(name, "store.readonly.reason"));
    assertEquals(2, beans.getAttributes(name, new String[] {"puts", "deletes", "x"}).size());
    assertThrows(AttributeNotFoundException.class, () -> beans.getAttribute(name, "x"));
    assertThrows(
        AttributeNotFoundException.class,
        () -> beans.setAttribute(name, new Attribute("puts", 1L)));
  }

  @Test
  void aServerThatHasEnded() {
    FiguresBean bean =
        new FiguresBean(() -> {
          throw new ErdaException.Unavailable("the server has ended");
        });
    assertThrows(MBeanException.class, () -> bean.getAttribute("puts"));
    assertEquals(0, bean.getAttributes(new String[] {"puts"}).size());
  }
}
