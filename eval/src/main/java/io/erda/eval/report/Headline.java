package io.erda.eval.report;

/**
 * A line of the summary that a page begins with.
 *
 * @param what was measured, beside what
 * @param figure for people; several have a comma between them
 * @param goal that it must meet; empty where nothing is expected
 */
record Headline(String what, String figure, String goal, Outcome outcome) {}
