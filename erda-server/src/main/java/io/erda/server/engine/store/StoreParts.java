package io.erda.server.engine.store;

import io.erda.logstore.LogStore;
import io.erda.pmem.Leftovers;
import io.erda.pmem.MemoryDirectory;
import io.erda.server.engine.files.RootFile;
import io.erda.server.engine.files.SuperblockFile;
import io.erda.server.engine.tables.KeyWords;
import io.erda.server.engine.tables.PendingWords;
import io.erda.server.engine.tables.Tables;

/**
 * The open files and tables of a store that may not be recovered yet. {@link Recovery} repairs
 * them; then a {@link StoreEngine} owns them.
 */
record StoreParts(
    MemoryDirectory directory,
    Leftovers leftovers,
    SuperblockFile superblock,
    RootFile root,
    Tables tables,
    PendingWords pending,
    LogStore log,
    KeyWords keyWords) {}
