/**
 * The KV service: serve a directory to other processes ({@link io.erda.server.ErdaServer}), open it
 * in this one ({@link io.erda.server.ErdaStore}), or check it while nobody serves it ({@code
 * StoreVerifier}).
 *
 * <p>The rooms of {@code engine} decide everything, without threads or clocks of their own; this
 * package is their wiring. Read {@code ServerAssembly} first, which makes a {@code ServerCore} and
 * the threads that work for it, then {@code ServerThread}, which drives it, and {@code
 * OpenedStore}. In an embedded store the callers take the server's steps ({@code SharedSteps}).
 * Threads that take work off the server's are {@code FileMaker}, {@code PageKeeper} and {@code
 * SyncThreads}; {@code DirectoryWatch} looks whether the store's name still leads to it.
 */
package io.erda.server;
