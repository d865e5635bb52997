/** Objects, segments, regions linked to heads; extents, reservations, water marks. */
module io.erda.logstore {
  requires transitive io.erda.pmem;

  exports io.erda.logstore;
}
