/** The ways to watch a server: metrics, log, service manager, JMX. */
package io.erda.launcher.watch;
