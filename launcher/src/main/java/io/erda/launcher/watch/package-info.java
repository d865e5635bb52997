/** What people and programs watch a server by: metrics, log, service manager, JMX. */
package io.erda.launcher.watch;
