/** Blocking calls: the calling thread drives its operations until they end. */
package io.erda.client.calls;
