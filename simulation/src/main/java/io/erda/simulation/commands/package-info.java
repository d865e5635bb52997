/** The command {@code simulate} of {@code ./erda}. */
package io.erda.simulation.commands;
