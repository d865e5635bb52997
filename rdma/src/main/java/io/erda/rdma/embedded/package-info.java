/** The device between threads of one process. */
package io.erda.rdma.embedded;
