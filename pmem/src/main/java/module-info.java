/** Mapped persistent memory: put, flush, drain; what survives which failure; counted stores. */
module io.erda.pmem {
  exports io.erda.pmem;
}
