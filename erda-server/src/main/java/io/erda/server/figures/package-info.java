/**
 * What a server counts and measures: the catalogue of its figures, and the forms they come in.
 *
 * <p>A new figure begins with its line in {@code FigureCatalogue}: name, kind, unit, meaning.
 * {@code docs/stats.md} is written from it; {@code StatsPageTest} says how, and fails when a server
 * tells what the catalogue does not have.
 */
package io.erda.server.figures;
