/** Erda over RDMA: the device of libibverbs and librdmacm. */
package io.erda.verbs;
