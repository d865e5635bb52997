package io.erda.client;

/**
 * What a client has done so far.
 *
 * @param gets finished, absent ones too
 * @param absent gets that found nothing
 * @param puts finished without error
 * @param deletes finished without error
 * @param lookUps times a neighbourhood and the root were READ
 * @param objectReads first READs of an object, behind its look-up
 * @param guesses look-ups with a READ of the place where the object lay last
 * @param rightGuesses guesses that were right, so that one round trip was enough
 * @param secondReads READs of the rest of an object that was longer than its first READ
 * @param invalidObjects private copies that failed their check
 * @param absenceRetries look-ups repeated because entries may have moved meanwhile
 * @param mapRefreshes region maps fetched, the first one too
 * @param leases extents leased
 * @param rewrites objects written again at another place
 * @param resolves times the server was asked about an object
 * @param connections made, the first one too
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
