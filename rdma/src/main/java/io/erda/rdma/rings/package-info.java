/**
 * Queue pairs in memory that both ends map: rings of messages, words of completions and claims, and
 * one-sided work that is loads and stores of the caller. The devices {@code shm} and {@code
 * embedded} stand on it.
 */
package io.erda.rdma.rings;
