/** memcached as a peer: its server in a child process, and a client as lean as Erda's. */
package io.erda.eval.memcached;
