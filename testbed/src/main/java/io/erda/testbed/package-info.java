/**
 * Power cuts for real: an emulated guest whose power is cut while a store in it is under load.
 *
 * <p>{@link io.erda.testbed.PowerCuts} is the command. It lives through {@link
 * io.erda.testbed.Session}s: a {@link io.erda.testbed.Guest} with a {@link io.erda.testbed.Disk} of
 * its own, in which a store is opened again and again. {@link io.erda.testbed.Actor} runs in the
 * guest, puts, and says what was acknowledged; the {@link io.erda.testbed.Ledger} keeps that on the
 * host; {@link io.erda.testbed.CutCheck} opens the store on a copy of the disk as the cut left it
 * and compares.
 */
package io.erda.testbed;
