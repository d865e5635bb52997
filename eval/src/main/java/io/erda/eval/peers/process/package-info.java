/** The processes that stores are measured in: what runs in them, and how they are started. */
package io.erda.eval.peers.process;
