package io.erda.hashtable;

/**
 * Decides whether an entry whose key word is equal belongs to the key that is looked for, by
 * comparing the full key in its object.
 */
@FunctionalInterface
public interface KeyProbe {
  boolean matches(long slot, long versionWord);
}
