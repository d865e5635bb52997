package io.erda.architecture;

/** Stands in the root package, for a rule about the rooms below it. */
public final class Outside {}
