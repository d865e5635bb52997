/**
 * The verbs interface of all devices: device, queue pair, memory region, completion.
 *
 * <p>Every device guarantees the following. READs of one queue pair execute in order, one after the
 * other, but the words inside one READ arrive in any order. An 8-aligned word is never torn when
 * source and destination agree mod 8. The receiver of a SEND sees all WRITEs that were posted
 * before it on the same queue pair. After the owner of a queue pair has closed it, only those of
 * its messages take effect that the responder had claimed ({@link io.erda.rdma.Claims}), and later
 * completions are errors.
 *
 * <p>Read {@link io.erda.rdma.Device} first, then {@link io.erda.rdma.QueuePair} and {@link
 * io.erda.rdma.Work}, the request that is posted. {@link io.erda.rdma.Claims} decides which
 * messages take effect when one end has ended. A new device has a {@link
 * io.erda.rdma.DeviceProvider} for its URIs, which {@code META-INF/services} and its {@code
 * module-info} name, and passes the suite {@code DeviceContract} of this module's test-jar. The
 * packages below this one are the devices of this module; {@code rings} is the common part of two
 * of them.
 */
package io.erda.rdma;
