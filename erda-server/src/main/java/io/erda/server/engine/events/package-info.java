/**
 * The events of the engine: events of Java Flight Recorder, and calls of a listener.
 *
 * <p>Read {@code Events} first, which makes them. A new event is a class beside {@code
 * CleaningEvent}, with a line in {@code docs/events.md}; {@code EventsTest} checks that page.
 */
package io.erda.server.engine.events;
