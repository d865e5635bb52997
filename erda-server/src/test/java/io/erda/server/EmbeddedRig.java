package io.erda.server;

import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import java.io.IOException;
import java.nio.file.Path;
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
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime, StepFailure::inWords);
    EmbeddedDevice device = network.device(false, 0);
    ServerAssembly assembly =
        ErdaStore.assembly(store, device, device.listen("erda"), options, clock, failures);
    StoreService served = assembly.serve(store);
    SharedSteps steps = new SharedSteps(served.core(), device::wakeup, System::nanoTime);
    ServerThread server = ServerThread.start(assembly, served, steps, network::fail, true);
    device.onRing(steps::help);
    return new EmbeddedRig(store, network, steps, server);
  }
}
