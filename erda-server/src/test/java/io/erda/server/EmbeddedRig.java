package io.erda.server;

import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.service.ServerCore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The parts of an embedded store, wired as {@link ErdaStore} does it, for tests that make one of
 * them fail. The caller that made it closes the server.
 */
record EmbeddedRig(
    OpenedStore store, EmbeddedNetwork network, SharedSteps steps, ServerThread server) {
  /**
   * Opens a store and starts its server, which sleeps while there are no requests.
   *
   * @param clock of the server's engine
   * @param failures receives the error that ends a thread of the server
   */
  static EmbeddedRig open(Path data, ServerOptions options, LongSupplier clock, Failures failures)
      throws IOException {
    OpenedStore store = OpenedStore.open(data, options, OpenedStore.Purpose.HOLD);
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime);
    EmbeddedDevice device = network.device(false, 0);
    ServerCore core = new ServerCore(store.engine(), ServerThread.serviceOptions(options), clock);
    core.listen(device, device.listen("erda"));
    SharedSteps steps = new SharedSteps(core, device::wakeup);
    ServerThread server =
        ServerThread.start(
            opened -> core,
            core,
            steps,
            new ServedDevices(device, List.of()),
            store,
            options.withPollingNs(0),
            null,
            failures,
            true);
    device.onRing(steps::help);
    return new EmbeddedRig(store, network, steps, server);
  }
}
