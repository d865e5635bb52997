/**
 * Profiles of processes: a JVM that samples its threads, and the steps to which the samples belong.
 */
package io.erda.eval.profile;
