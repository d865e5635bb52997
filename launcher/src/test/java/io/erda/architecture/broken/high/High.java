package io.erda.architecture.broken.high;

import org.junit.jupiter.api.DisplayName;

/** Needs more than the JDK. */
@DisplayName("high")
public final class High {}
