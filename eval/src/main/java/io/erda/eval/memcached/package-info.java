/** memcached as a peer: its server in a process of ours, and a client that is as lean as ours. */
package io.erda.eval.memcached;
