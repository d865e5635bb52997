/** Two-phase, lock-free log cleaning. */
module io.erda.cleaner {
  requires transitive io.erda.hashtable;
  requires transitive io.erda.logstore;
  requires transitive io.erda.pmem;

  exports io.erda.cleaner;
}
