/** Objects, segments, regions linked to heads; extents, water marks. */
module io.erda.logstore {
  requires transitive io.erda.pmem;

  exports io.erda.logstore;
}
