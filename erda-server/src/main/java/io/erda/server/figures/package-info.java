/**
 * The figures that a server counts and measures: their catalogue, and their output formats.
 *
 * <p>A new figure begins with its line in {@code FigureCatalogue}: name, kind, unit, meaning.
 * {@code StatsPageTest} writes {@code docs/stats.md} from it with {@code -Derda.write=true}, and
 * fails when a server has a figure that is not in the catalogue.
 */
package io.erda.server.figures;
