package io.erda.testbed;

import io.erda.logstore.LogGeometry;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Promise;
import io.erda.protocol.PutMode;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import io.erda.server.engine.store.StoreOpening;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;

/**
 * A server over RDMA whose store lies on a device of persistent memory (devdax), the only kind that
 * kernels pin. It reports the same lines as an {@link Actor}, and ends with its machine.
 *
 * <pre>DeviceServer /dev/daxX.Y HOST:PORT</pre>
 */
public final class DeviceServer {
  /** Small, like that of {@link Actor}. */
  private static final StoreGeometry GEOMETRY =
      new StoreGeometry(new LogGeometry(2, 64 << 10, 8 << 10, 12), 64, PutMode.PUBLISH);

  private DeviceServer() {}

  /** See the class comment. */
  public static void main(String[] args) throws IOException {
    try {
      serve(new DeviceDirectory(DeviceMapping.map(Path.of(args[0]))), args[1]);
    } catch (ErdaException e) {
      say("F " + e.getMessage());
      System.exit(1);
    } catch (RuntimeException | IOException e) {
      say("X " + e);
      e.printStackTrace();
      System.exit(1);
    }
  }

  private static void serve(DeviceDirectory directory, String address) throws IOException {
    StoreEngine engine = StoreOpening.open(directory, GEOMETRY, Promise.POWER, new SecureRandom());
    say("S " + engine.promise());
    engine.recovery().notes().forEach(note -> say("N " + note));
    ServerCore core = new ServerCore(engine, ServiceOptions.DEFAULT, System::nanoTime);
    Device device = device();
    core.listen(device, device.listen(address));
    while (true) {
      if (core.doWork() == 0 && core.arm() && core.doWork() == 0) {
        device.await(core.sleepNsMax());
      }
    }
  }

  private static Device device() throws IOException {
    return DeviceProvider.of("erda+rdma")
        .orElseThrow(() -> new IOException("there is no device for erda+rdma"))
        .serving(DeviceProvider.Settings.of(Map.of(), System::nanoTime, SecureRandom::new));
  }

  private static void say(String line) {
    System.out.println("@ " + line.replace('\n', ' '));
    System.out.flush();
  }
}
