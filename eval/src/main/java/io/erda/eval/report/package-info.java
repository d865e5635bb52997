/** The processing of measurements: rounds side by side, and tables for people. */
package io.erda.eval.report;
