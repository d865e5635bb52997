/** The commands {@code quickstart}, {@code ycsb} and {@code eval} of {@code ./erda}. */
package io.erda.eval.commands;
