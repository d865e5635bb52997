package io.erda.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

class WorkloadsTest {
  @Test
  void everyWorkloadIsOneThatYcsbTakes() throws Exception {
    Measurements.setProperties(new Properties());
    for (String name : Workloads.NAMES) {
      Properties properties = Workloads.load(name);
      double sum =
          Stream.of("read", "update", "insert", "scan", "readmodifywrite")
              .mapToDouble(
                  kind -> Double.parseDouble(properties.getProperty(kind + "proportion", "0")))
              .sum();
      assertEquals(1, sum, 1e-9, name);
      assertEquals("0", properties.getProperty("scanproportion"), name);
      assertEquals(CoreWorkload.class.getName(), properties.getProperty("workload"), name);
      new CoreWorkload().init(properties);
    }
  }

  @Test
  void anUnknownWorkloadIsNamed() {
    assertThrows(IllegalArgumentException.class, () -> Workloads.load("workloade"));
  }
}
