/**
 * The client: {@link io.erda.client.ErdaClient} blocks, {@link io.erda.client.ErdaAsyncClient}
 * pipelines. Both are façades over one core of state machines that are advanced by completions and
 * by {@code doWork()}; the core never sleeps by itself and reads only the clock that it is given,
 * so the same code runs on a thread and in virtual time.
 *
 * <p>This package has the types that callers use. The packages below it depend on each other in one
 * direction: {@code shared} and {@code calls} depend on {@code puts} and {@code iteration}, these
 * depend on {@code gets}, and then follow {@code operations}, {@code connections} and {@code
 * files}. Several threads may share an {@code ErdaClientPool}, {@code ErdaMap} or {@code
 * ErdaFutures}.
 */
package io.erda.client;
