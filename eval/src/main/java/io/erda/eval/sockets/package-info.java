/** How servers that speak lines are talked to: what the clients of Redis and memcached share. */
package io.erda.eval.sockets;
