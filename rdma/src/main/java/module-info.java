/** The verbs interface, and the devices that need only the JDK. */
module io.erda.rdma {
  requires java.management;
  requires jdk.net;
  requires jdk.nio.mapmode;
  requires transitive io.erda.pmem;

  exports io.erda.rdma;
  exports io.erda.rdma.embedded;
  exports io.erda.rdma.shm to
      io.erda.eval,
      io.erda.server;
  exports io.erda.rdma.tcp;

  uses io.erda.rdma.DeviceProvider;

  provides io.erda.rdma.DeviceProvider with
      io.erda.rdma.shm.ShmDeviceProvider,
      io.erda.rdma.tcp.TcpDeviceProvider;
}
