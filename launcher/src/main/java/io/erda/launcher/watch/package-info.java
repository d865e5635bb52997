/**
 * The ways to watch a server process: its log, its figures over HTTP and JMX, and its notices to
 * the service manager.
 *
 * <p>Read {@code MetricsEndpoint} first, which answers HTTP requests for figures, and {@code
 * StandardErrorLog}. {@code FiguresBean} has the figures for JMX. {@code ServiceNotices} decides
 * which notices systemd gets, and {@code ServiceManager} sends them.
 */
package io.erda.launcher.watch;
