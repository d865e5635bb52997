package io.erda.client;

/**
 * What a client has done so far.
 *
 * @param gets gets that finished, including those of absent keys
 * @param absent gets that found no value
 * @param puts puts that finished without error
 * @param deletes deletes that finished without error
 * @param lookUps how often a neighbourhood and the root were READ
 * @param objectReads first READs of an object after its look-up
 * @param guesses look-ups with a READ of the place where the object lay last
 * @param rightGuesses guesses that were right, so that the get needed only one round trip
 * @param secondReads READs of the rest of an object that was longer than its first READ
 * @param invalidObjects private copies that failed their check
 * @param absenceRetries look-ups that were repeated because entries may have moved during the
 *     look-up
 * @param mapRefreshes region maps that were fetched, including the first one
 * @param leases extents that were leased
 * @param rewrites objects that were written again at another place
 * @param resolves how often the client asked the server about an object
 * @param connections connections that were made, including the first one
 */
public record ClientStatistics(
    long gets,
    long absent,
    long puts,
    long deletes,
    long lookUps,
    long objectReads,
    long guesses,
    long rightGuesses,
    long secondReads,
    long invalidObjects,
    long absenceRetries,
    long mapRefreshes,
    long leases,
    long rewrites,
    long resolves,
    long connections) {}
