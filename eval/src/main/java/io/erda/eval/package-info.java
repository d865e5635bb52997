/** The quickstart and the experiments, with their goals and reports. */
package io.erda.eval;
