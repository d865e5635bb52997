/**
 * The service over a store: connections and their admission, requests, leases, ports, quotas and
 * figures. {@link io.erda.server.engine.service.ServerCore} is the entry point.
 */
package io.erda.server.engine.service;
