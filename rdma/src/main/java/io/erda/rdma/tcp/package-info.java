/**
 * The tcp device, a software RNIC: verbs as frames over a socket. A client's thread drives its own
 * socket. At the server one I/O thread executes READs and WRITEs without entering the server's
 * logic. Bytes: {@code FORMAT-tcp.md}.
 */
package io.erda.rdma.tcp;
