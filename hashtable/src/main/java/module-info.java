/** Hopscotch table of entries with the 8-byte flip-bit version word. */
module io.erda.hashtable {
  requires transitive io.erda.pmem;

  exports io.erda.hashtable;
}
