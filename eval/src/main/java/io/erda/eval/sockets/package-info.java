/**
 * Communication with servers whose protocol is lines: the common part of the clients of Redis and
 * memcached.
 */
package io.erda.eval.sockets;
