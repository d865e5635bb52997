/** What cleaning the log costs, those who use the store and the disk. */
package io.erda.eval.experiments.cleaning;
