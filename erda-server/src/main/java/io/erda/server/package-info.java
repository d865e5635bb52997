/**
 * The server, and the store inside a program. A program that wants a store of its own opens it, and
 * uses clients of it as of any store:
 *
 * <pre>{@code
 * try (ErdaStore store = ErdaStore.open(Path.of("data"));
 *     ErdaClient erda = store.client()) {
 *   erda.put(key, value);
 * }
 * }</pre>
 *
 * <p>{@link io.erda.server.ErdaServer} serves a directory to other processes and hosts; {@link
 * io.erda.server.ServerOptions} says how. {@link io.erda.server.StoreVerifier} checks a store that
 * nobody serves.
 *
 * <p><b>For maintainers.</b> The packages of {@code engine} decide everything, without threads or
 * clocks of their own; this package gives them threads, clocks and files. Read {@code
 * ServerAssembly} first, which makes a {@code ServerCore} and the threads that work for it, then
 * {@code ServerThread}, which drives the core, and {@code OpenedStore}. In an embedded store the
 * callers take the server's steps, or commit beside each other ({@code SharedSteps}), and the I/O
 * thread of tcp handles requests while the server's thread sleeps ({@code StepTurn}). {@code
 * FileMaker}, {@code PageKeeper} and {@code SyncThreads} are threads that take work off the
 * server's thread; {@code DirectoryWatch} checks whether the store's name still leads to its
 * directory, and the file system works.
 */
package io.erda.server;
