/**
 * The key-value service: serve a directory to other processes ({@link io.erda.server.ErdaServer}),
 * open it in this process ({@link io.erda.server.ErdaStore}), or check it while no server has it
 * open ({@code StoreVerifier}).
 *
 * <p>The packages below {@code engine} have all the logic, without threads or clocks of their own;
 * this package supplies threads, clocks and devices. Read {@code ServerThread} first, which drives
 * a {@code ServerCore}, then {@code OpenedStore}. In an embedded store the callers take the
 * server's steps ({@code SharedSteps}). {@code FileMaker}, {@code PageKeeper} and {@code
 * SyncThreads} are threads that do work for the server's thread; {@code DirectoryWatch} checks
 * whether the store's name still leads to it.
 */
package io.erda.server;
