/**
 * The KV service: serve a directory to other processes, open it in this one, or check it while no
 * server has it open.
 */
package io.erda.server;
