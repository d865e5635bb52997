/**
 * The verbs seam: device, queue pair, memory region, completion.
 *
 * <p>What every device promises: READs of one queue pair execute in order, one after the other, but
 * the words inside one READ arrive in any order; an 8-aligned word is never torn when source and
 * destination agree mod 8; the receiver of a SEND sees the WRITEs posted before it on the same
 * queue pair; once a queue pair is closed by its owner, of its work only the messages that the
 * responder had claimed take effect ({@link io.erda.rdma.Claims}), and later completions are
 * errors.
 *
 * <p>Read {@link io.erda.rdma.Device} first, then {@link io.erda.rdma.QueuePair} and {@link
 * io.erda.rdma.Work}, the request that is posted. {@link io.erda.rdma.Claims} says which messages
 * take effect when an end has gone. A device of its own has a {@link io.erda.rdma.DeviceProvider}
 * for its URIs, which {@code META-INF/services} and its {@code module-info} name, and passes the
 * suite {@code DeviceContract} of this module's test-jar. The rooms below this package are the
 * devices of this module; {@code rings} is what two of them share.
 */
package io.erda.rdma;
