/** Mapped persistent memory: put, flush, drain; what survives which failure; counted stores. */
module io.erda.pmem {
  requires jdk.nio.mapmode;

  exports io.erda.pmem;
  exports io.erda.pmem.libc to
      io.erda.rdma,
      io.erda.verbs,
      io.erda.server;
}
