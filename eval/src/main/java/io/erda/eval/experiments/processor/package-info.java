/** The server's processor time during gets, when idle, and when it wakes up. */
package io.erda.eval.experiments.processor;
