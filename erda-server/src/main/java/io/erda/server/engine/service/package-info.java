/**
 * The service over a store: connections and their admission, requests, leases, ports, quotas and
 * figures. {@link io.erda.server.engine.service.ServerCore} is where a thread enters, and what it
 * needs beside a store is its {@code CoreSurroundings}.
 *
 * <p>{@code RequestDispatch} names who answers a message: {@code Publishing} collects puts into
 * batches and answers them, {@code Announcing} those that announce first, {@code Leases} gives
 * space, {@code MapRequests} and {@code KeyRequests} tell of regions and keys, {@code Figures} of
 * the server. {@code LocalLine} is the way of a put without a message. {@code ServerFigures} has
 * most of the figures that {@code FigureCatalogue} lists.
 */
package io.erda.server.engine.service;
