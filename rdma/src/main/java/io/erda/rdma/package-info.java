/**
 * The verbs seam: device, queue pair, memory region, completion.
 *
 * <p>What every device promises: READs of one queue pair execute in order, one after the other, but
 * the words inside one READ arrive in any order; an 8-aligned word is never torn when source and
 * destination agree mod 8; the receiver of a SEND sees the WRITEs posted before it on the same
 * queue pair; once a queue pair is closed by its owner, no work that was posted on it takes effect
 * any more, and later completions are errors.
 */
package io.erda.rdma;
