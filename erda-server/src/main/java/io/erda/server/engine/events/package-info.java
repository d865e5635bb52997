/**
 * What the engine tells of itself while it works: events of Java Flight Recorder, and a listener's
 * calls.
 *
 * <p>Read {@code Events} first, which makes them. A new event is a class beside {@code
 * CleaningEvent}, with a line in {@code docs/events.md}, which {@code EventsTest} holds.
 */
package io.erda.server.engine.events;
