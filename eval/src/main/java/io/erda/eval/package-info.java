/** The quickstart and the experiments: what they measure, what it must be, and the report. */
package io.erda.eval;
