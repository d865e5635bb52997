/**
 * The device over shared memory between processes of one host: files, sockets, a registry of
 * regions, and what becomes of them when a process dies.
 *
 * <p>Read {@code ShmDevice} first, then {@code Serving}, which is its server's side. Bytes: {@code
 * FORMAT.md} of this module.
 */
package io.erda.rdma.shm;
