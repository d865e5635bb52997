/** Lock-free log cleaning, in phases, beside readers and writers. */
module io.erda.cleaner {
  requires transitive io.erda.hashtable;
  requires transitive io.erda.logstore;
  requires transitive io.erda.pmem;

  exports io.erda.cleaner;
}
