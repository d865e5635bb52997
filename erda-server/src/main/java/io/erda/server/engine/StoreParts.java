package io.erda.server.engine;

import io.erda.logstore.LogStore;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;

/** The parts of an open store. */
record StoreParts(
    MemoryDirectory directory,
    Leftovers leftovers,
    Superblock superblock,
    PersistentMemory superblockMemory,
    RootFile root,
    Tables tables,
    PendingWords pending,
    LogStore log,
    KeyWords keyWords) {}
