/**
 * The files of a store beside table and log: superblock, root, the record of a clean stop; which
 * options a store was made with, and which it gets.
 *
 * <p>Read {@code Superblock} first. {@code StoreCreation} makes a store, {@code StoreWishes} says
 * which options it gets, {@code StorePromise} what it promises, and {@code StopRecord} what a clean
 * stop leaves.
 */
package io.erda.server.engine.files;
