/**
 * The device over shared memory between processes of one host: files, sockets, a registry of
 * regions, and the handling of the death of a process.
 *
 * <p>Read {@code ShmDevice} first, then {@code Serving}, which is the part for a server. Bytes:
 * {@code FORMAT.md} of this module.
 */
package io.erda.rdma.shm;
