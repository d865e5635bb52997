/** The processes in which stores are measured, and how they are started. */
package io.erda.eval.peers.process;
