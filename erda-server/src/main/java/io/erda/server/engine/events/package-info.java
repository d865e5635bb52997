/** The engine's events: those of Java Flight Recorder, and a listener. */
package io.erda.server.engine.events;
