/** Long use of a store: backups during use, and hours of load and faults. */
package io.erda.eval.experiments.keeping;
