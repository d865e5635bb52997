/** How quickly a store is served again. */
package io.erda.eval.experiments.starts;
