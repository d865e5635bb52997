/**
 * Queue pairs in memory that both ends map: rings of messages, words for claims and states, and
 * one-sided work that is done by loads and stores of the calling thread. The devices {@code shm}
 * and {@code embedded} use it.
 *
 * <p>Read {@code RingQueuePair} first. {@code OneSidedWork} executes READ and WRITE, {@code
 * RemoteRegions} has the regions that they access, {@code Ends} has the states of both ends, and
 * {@code RingClaims} decides which messages take effect when one end has ended.
 */
package io.erda.rdma.rings;
