/**
 * The client. A program connects, uses the client in one thread, and closes it:
 *
 * <pre>{@code
 * try (ErdaClient erda = ErdaClient.connect("erda+shm:/var/lib/erda")) {
 *   erda.put(key, value);
 *   byte[] found = erda.get(key); // null: the key has no value
 * }
 * }</pre>
 *
 * <p>Each call of {@link io.erda.client.ErdaClient} blocks until it is done. Several threads share
 * a {@link io.erda.client.ErdaClientPool}; over a pool there is a {@code ConcurrentMap}, {@link
 * io.erda.client.ErdaMap}. {@link io.erda.client.ErdaFutures} gives a {@code CompletableFuture} for
 * each operation, from any thread. {@link io.erda.client.ErdaAsyncClient} is for one thread that
 * keeps many operations under way and never blocks. What can go wrong is an {@link
 * io.erda.protocol.ErdaException}. A store inside the program itself is {@code
 * io.erda.server.ErdaStore}, which gives such clients too.
 *
 * <p><b>For maintainers.</b> The classes of this package are façades over one core of state
 * machines ({@code calls.ClientCore}) that completions and {@code doWork()} advance. The core never
 * sleeps and has no clock of its own, so the same code runs on a thread and in virtual time. The
 * packages below this one know each other in one direction: {@code shared} and {@code calls} know
 * {@code puts} and {@code iteration}, these know {@code gets}, then come {@code operations}, {@code
 * connections} and {@code files}.
 */
package io.erda.client;
