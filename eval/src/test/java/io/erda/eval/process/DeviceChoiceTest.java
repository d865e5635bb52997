package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests the options of a server, and the address of its clients. */
class DeviceChoiceTest {
  @Test
  void clientsConnectToWhereTheServerListens() {
    for (DeviceChoice each : List.of(DeviceChoice.SHM, DeviceChoice.TCP)) {
      assertEquals(Optional.empty(), each.missing());
      List<String> options = each.serverOptions();
      assertEquals(each, DeviceChoice.ofServer(options));
      String uri = each.uri(options, "/data");
      assertEquals(
          each == DeviceChoice.SHM ? "erda+shm:/data" : "erda://" + options.getLast(), uri);
    }
    List<String> overRdma = List.of("--counted", "--rdma", "10.9.0.1:7411", "--capacity", "64M");
    assertEquals(DeviceChoice.RDMA, DeviceChoice.ofServer(overRdma));
    assertEquals("erda+rdma://10.9.0.1:7411", DeviceChoice.RDMA.uri(overRdma, "/data"));
  }

  @Test
  void whoseAddressIsUnknownListensAtAnyPortOfThisMachine() {
    assertEquals("127.0.0.1:0", DeviceChoice.TCP.anyPort());
    assertTrue(DeviceChoice.TCP.serverOptions().getLast().startsWith("127.0.0.1:"));
  }
}
