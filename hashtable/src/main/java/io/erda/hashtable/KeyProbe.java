package io.erda.hashtable;

/**
 * Decides whether an entry with an equal key word belongs to the key that is searched, by comparing
 * the full key in the entry's object.
 */
@FunctionalInterface
public interface KeyProbe {
  boolean matches(long slot, long versionWord);
}
