/**
 * The service over a store: connections and their admission, requests, leases, ports, quotas and
 * figures. The server's thread drives a {@link io.erda.server.engine.service.ServerCore}, which
 * gets its helpers and listeners by a {@code CoreSurroundings}.
 *
 * <p>{@code RequestDispatch} passes a message to the class that answers it: {@code Publishing}
 * collects puts into batches and answers them, {@code Announcing} answers puts that announce first,
 * {@code LeaseGrants} grants space, {@code MapRequests} and {@code KeyRequests} answer requests
 * about regions and keys, and {@code NamedFigures} has the figures of the server. A put without a
 * message comes through {@code LocalPuts}, and a {@code Committer} does it where it can. {@code
 * ServerFigures} has most of the figures that {@code FigureCatalogue} lists.
 */
package io.erda.server.engine.service;
