/**
 * Clients that several threads share: pools, futures, maps. They use {@link
 * io.erda.client.ErdaClient} and {@link io.erda.client.ErdaAsyncClient}, as an application does.
 *
 * <p>Read {@code PoolSlots} first, which lends the clients of a pool. {@code FutureDriver} is the
 * thread of an {@code ErdaFutures}, and {@code FutureQueues} keeps the order of operations on each
 * key. {@code MapView} and {@code MapIterator} are the views of an {@code ErdaMap}, and {@code
 * UpdateGuard} refuses a function that changes its own key. {@code Attempts} are those of a call
 * whose changes come too late: it waits for its turn, and pauses.
 */
package io.erda.client.shared;
