/**
 * Publication: an object that a client wrote becomes the newest version of its key, in two steps or
 * in three (docs/design.md, rules 3 to 5).
 *
 * <p>Read {@code Publication} first: a batch goes through the stages of {@code PublishRequest}, and
 * this is the one place of the code with the order of data, flush, drain and word. {@code
 * Condition} is what a put may depend on, {@code AnnouncedWords} are the puts that announce first,
 * and {@code Syncs} waits for a device.
 */
package io.erda.server.engine.publishing;
