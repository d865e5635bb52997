/**
 * What the engine tells of itself while it works: events of Java Flight Recorder, and a listener's
 * calls.
 */
package io.erda.server.engine.events;
