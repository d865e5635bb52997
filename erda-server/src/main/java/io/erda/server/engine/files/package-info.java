/**
 * The files of a store beside table and log: superblock, root and the record of a clean stop; and
 * the options with which a store is created and opened.
 */
package io.erda.server.engine.files;
