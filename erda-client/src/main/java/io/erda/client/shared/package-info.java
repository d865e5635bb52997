/**
 * Clients that several threads share: pools, futures, maps. They use {@link
 * io.erda.client.ErdaClient} and {@link io.erda.client.ErdaAsyncClient} as an application does.
 */
package io.erda.client.shared;
