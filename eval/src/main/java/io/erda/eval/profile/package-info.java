/**
 * Where the time of a process goes: a JVM that records where its threads are, and a table of the
 * steps that they were found in.
 */
package io.erda.eval.profile;
