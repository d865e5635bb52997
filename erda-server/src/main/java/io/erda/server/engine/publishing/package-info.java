/**
 * Publication: makes an object that a client wrote the newest version of its key, in two steps or
 * in three (docs/design.md, rules 3 to 5).
 */
package io.erda.server.engine.publishing;
