/**
 * Queue pairs in memory that both ends map: rings of messages, words of completions and claims, and
 * one-sided work that is loads and stores of the caller. The devices {@code shm} and {@code
 * embedded} stand on it.
 *
 * <p>Read {@code RingQueuePair} first. {@code OneSidedWork} carries READ and WRITE out, {@code
 * RemoteRegions} says what they reach, {@code Ends} who is still there, and {@code RingClaims}
 * which messages take effect when an end has gone.
 */
package io.erda.rdma.rings;
