/** The experiments of {@code eval run}, in packages by topic. */
package io.erda.eval.experiments;
