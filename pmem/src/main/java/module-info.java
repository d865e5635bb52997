/** Mapped persistent memory: put, flush, drain; what survives which failure; counted stores. */
module io.erda.pmem {
  requires jdk.nio.mapmode;

  exports io.erda.pmem;
}
