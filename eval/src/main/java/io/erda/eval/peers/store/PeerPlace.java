package io.erda.eval.peers.store;

/**
 * What a store is opened with.
 *
 * @param location a directory, or the URI of a server
 * @param objects that it will hold
 * @param valueBytes of each of them
 * @param pipelined whether puts are to be many at once
 */
public record PeerPlace(String location, long objects, int valueBytes, boolean pipelined) {}
