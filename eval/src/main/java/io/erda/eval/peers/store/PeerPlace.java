package io.erda.eval.peers.store;

/**
 * The parameters for opening a store.
 *
 * @param location a directory, or the URI of a server
 * @param objects that it will hold
 * @param valueBytes of each of them
 * @param pipelined whether many puts are made at once
 */
public record PeerPlace(String location, long objects, int valueBytes, boolean pipelined) {}
