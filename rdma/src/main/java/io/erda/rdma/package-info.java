/**
 * The verbs seam: device, queue pair, memory region, completion.
 *
 * <p>What every device promises: READs of one queue pair execute in order, one after the other, but
 * the words inside one READ arrive in any order; an 8-aligned word is never torn when source and
 * destination agree mod 8; who receives a SEND sees the WRITEs posted before it on the same queue
 * pair; once a queue pair is closed by its owner, nothing posted on it takes effect any more, and
 * what completes after that completes in error.
 */
package io.erda.rdma;
