package io.erda.server.engine.service;

/**
 * Why an open store is no longer found by its name.
 *
 * @param words for a user
 * @param ofFiles whether names of its files lead elsewhere, so that whoever opens them by name
 *     finds other contents
 */
public record Loss(String words, boolean ofFiles) {}
