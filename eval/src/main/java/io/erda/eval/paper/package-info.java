/**
 * The Erda paper's comparison (§5), measured on this machine: Erda beside Redo Logging and Read
 * After Write, each served by a process of its own, with the paper's figures beside ours.
 */
package io.erda.eval.paper;
