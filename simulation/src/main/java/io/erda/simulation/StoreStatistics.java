package io.erda.simulation;

/**
 * Counts of the stores of a disk's processes, over all incarnations.
 *
 * @param stores calls of put and of atomic stores
 * @param bytesStored by them
 * @param flushes calls
 * @param drains calls
 * @param nicWords words (or parts of words) that NICs stored
 * @param crashes that struck inside a store, flush, drain, or change of the directory
 * @param wordsLost by power failures
 */
public record StoreStatistics(
    long stores,
    long bytesStored,
    long flushes,
    long drains,
    long nicWords,
    long crashes,
    long wordsLost) {}
