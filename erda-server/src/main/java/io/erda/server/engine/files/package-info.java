/**
 * The files of a store besides the table and the log: the superblock, the root, and the record of a
 * clean stop. Also the options with which a store is created, and with which it is opened.
 *
 * <p>Read {@code Superblock} first. {@code StoreCreation} makes a store, {@code StoreWishes}
 * compares the options of an opening with the store, {@code StorePromise} keeps the store's
 * promise, and {@code StopRecord} is the record of a clean stop.
 */
package io.erda.server.engine.files;
