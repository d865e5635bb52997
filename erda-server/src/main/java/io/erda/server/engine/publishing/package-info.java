/**
 * Publication: an object that a client wrote becomes what its key has, in two steps or in three
 * (docs/design.md, rules 3 to 5).
 */
package io.erda.server.engine.publishing;
