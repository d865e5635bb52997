/** A store that is kept for long: backups of it while it is used, and hours of everything. */
package io.erda.eval.experiments.keeping;
