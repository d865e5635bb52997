/**
 * The files of a store beside table and log: superblock, root, the record of a clean stop; which
 * options a store was made with, and which it gets.
 */
package io.erda.server.engine.files;
