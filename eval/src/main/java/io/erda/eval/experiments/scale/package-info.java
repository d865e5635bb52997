/** How costs change with the size of a store, of its values, of its table, and of its company. */
package io.erda.eval.experiments.scale;
