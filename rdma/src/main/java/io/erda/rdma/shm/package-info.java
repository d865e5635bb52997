/**
 * The device over shared memory between processes of one host: files, sockets, a registry of
 * regions, and what becomes of them when a process dies.
 */
package io.erda.rdma.shm;
