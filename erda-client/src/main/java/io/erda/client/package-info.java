/**
 * The client: {@link io.erda.client.ErdaClient} blocks, {@link io.erda.client.ErdaAsyncClient}
 * pipelines. Both are façades over one core of state machines that are advanced by completions and
 * by {@code doWork()}; the core never sleeps and uses only the clock that it is given, so the same
 * code runs on a thread and in virtual time.
 *
 * <p>Where to read first: {@code Get} (two one-sided READs, the absence rule), {@code Put} (publish
 * last), {@code Session} (one connection and the state that is only valid in it), {@code
 * ClientCore} (drives them).
 */
package io.erda.client;
