/**
 * Real power cuts: an emulated guest whose power is cut while a store in it is under load.
 *
 * <p>{@link io.erda.testbed.PowerCuts} is the command. It runs {@link
 * io.erda.testbed.DiskSession}s: {@link io.erda.testbed.Guest}s with one {@link
 * io.erda.testbed.Disk}, in which a store is opened repeatedly. {@link io.erda.testbed.Actor} runs
 * in the guest, puts, and reports acknowledgements; the {@link io.erda.testbed.Ledger} records them
 * on the host; {@link io.erda.testbed.CutCheck} opens the store on a copy of the disk as the cut
 * left it and compares.
 */
package io.erda.testbed;
