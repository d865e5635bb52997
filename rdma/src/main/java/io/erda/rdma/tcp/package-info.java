/**
 * The tcp device, a software RNIC, which sends verbs as frames over a socket. A client's thread
 * drives its own socket. At the server one I/O thread executes READs and WRITEs without the
 * server's thread. Bytes: {@code FORMAT-tcp.md}.
 *
 * <p>Read {@code IoThread} first, then {@code TcpResponder}, which passes frames on to an embedded
 * queue pair. While the server's thread sleeps the I/O thread also handles messages, by an action
 * of the server's ({@link io.erda.rdma.QueuePair#onArrival}).
 */
package io.erda.rdma.tcp;
