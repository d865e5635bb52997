/** Plots of a report, drawn as SVG by code of ours: bars and lines over an axis. */
package io.erda.eval.plot;
