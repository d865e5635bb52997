/**
 * The KV service: serve a directory to other processes, open it in this one, or check it while
 * nobody serves it.
 */
package io.erda.server;
