/**
 * The client: {@link io.erda.client.ErdaClient} blocks, {@link io.erda.client.ErdaAsyncClient}
 * pipelines. Both are façades over one core of state machines that are advanced by completions and
 * by {@code doWork()}; the core never sleeps and never asks a clock of its own, so the same code
 * runs on a thread and in virtual time.
 *
 * <p>This package has what callers give and get. The rooms below it know each other in one
 * direction: {@code shared} and {@code calls} know {@code puts} and {@code iteration}, these know
 * {@code gets}, then come {@code operations}, {@code connections} and {@code files}. What several
 * threads share is {@code ErdaClientPool}, {@code ErdaMap} and {@code ErdaFutures}.
 */
package io.erda.client;
