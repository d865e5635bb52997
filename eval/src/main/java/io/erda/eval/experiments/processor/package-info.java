/** What the server's processor does while others get, while nobody asks, and when somebody does. */
package io.erda.eval.experiments.processor;
